#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with an NVIDIA GPU: builds the CUDA kernels, verifies them, checks memory accesses where compute-sanitizer runs,
# and times them. Exits with the first status that is not 0; 3 if there is no GPU.
#
# usage: ci/gpu.sh [BUILD_DIR]
#   PEERS=FILE         JSON lines of other kernels on the same workloads, printed beside ours
#   AGAINST=LIBRARY    an earlier libkvexact_cuda.so: fails with 5 where the kernels are slower than it
#   FUZZ_SECONDS=N     drawn cases for so long (default 120)
#   SELF_COMPARISONS=N comparisons of the kernels with themselves, to test the gate (default 0: none)
#   NO_BUILD=1         use BUILD_DIR as it is: bin/ and lib/ are enough
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source_dir/build-gpu}
seconds=${FUZZ_SECONDS:-120}
against=${AGAINST:-}
comparisons=${SELF_COMPARISONS:-0}

if ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
  echo "ci/gpu.sh: no NVIDIA GPU here (nvidia-smi -L lists none)" >&2
  exit 3
fi
if [[ -z ${NO_BUILD:-} ]]; then
  cmake -S "$source_dir" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DKVEXACT_WERROR=OFF \
    -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-native}"
  cmake --build "$build" --target kvexact kvexact_worker kvexact_cuda kvexact_cuda_fast kvexact_cuda_probe \
    kvexact_gate_check kvexact_floor gpu_fuzz gpu_check_test gpu_backend_test
fi
bin=$build/bin

echo "== refusals"
"$bin/gpu_check_test" --gtest_brief=1
"$bin/gpu_backend_test" --gtest_brief=1

echo "== bytes against the strict model"
"$bin/gpu_fuzz" --huge --bulk 120 --cases 1000000 --time "$seconds"

echo "== judged by the harness, through the C interface"
"$bin/kvexact" verify --backend cuda --cases 400 --quiet

if python3 -c 'import torch, numpy' 2>/dev/null; then
  echo "== device tensors and recorded launches, through Python"
  PYTHONPATH="$source_dir/harness/python:$source_dir/property_tests/python" KVEXACT_BINARY="$bin/kvexact" \
    KVEXACT_SOURCE="$source_dir" python3 -m unittest -v test_device
else
  echo "== python3 has no torch: device tensors left out"
fi

if command -v compute-sanitizer >/dev/null && compute-sanitizer "$bin/gpu_fuzz" --cases 1 --threads 1 >/dev/null 2>&1; then
  for tool in memcheck racecheck initcheck synccheck; do
    echo "== compute-sanitizer $tool"
    compute-sanitizer --tool "$tool" --error-exitcode 1 "$bin/gpu_fuzz" --cases 48 --threads 1
  done
else
  echo "== compute-sanitizer does not run here: left out"
fi

echo "== time"
baseline=$source_dir/ci/baselines/$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 | tr 'A-Z ' 'a-z-').jsonl
[[ -e $baseline ]] || baseline=
"$bin/kvexact" bench --quiet --json "$build/bench.jsonl" ${PEERS:+--peers "$PEERS"} ${baseline:+--baseline "$baseline"}
for variant in fast probe; do
  echo "== time with $variant arithmetic"
  "$bin/kvexact" bench --quiet --backend "lib:$build/lib/libkvexact_cuda_$variant.so" --filter '_c4|_c128'
done
echo "== what the machine allows"
"$bin/kvexact_floor"
if [[ $comparisons -gt 0 ]]; then
  echo "== the gate: comparisons with itself, and a slowdown of 5 %"
  "$bin/kvexact_gate_check" "$build/lib/libkvexact_cuda.so" "$comparisons" 200
fi
if [[ -n $against ]]; then
  echo "== time against $against"
  "$bin/kvexact" bench --quiet --against "lib:$against"
fi
