#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On a machine with an NVIDIA GPU: builds the CUDA kernels, verifies them, checks memory accesses where compute-sanitizer runs,
# and times them.
#
# usage: ci/gpu.sh [BUILD_DIR]
#   PEERS=FILE      JSON lines of other kernels on the same workloads, printed beside ours
#   FUZZ_SECONDS=N  drawn cases for so long (default 120)
#   NO_BUILD=1      use BUILD_DIR as it is
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$source_dir/build-gpu}
seconds=${FUZZ_SECONDS:-120}

if ! nvidia-smi -L >/dev/null 2>&1; then
  echo "ci/gpu.sh: no NVIDIA GPU here (nvidia-smi -L fails)" >&2
  exit 3
fi
if [[ -z ${NO_BUILD:-} ]]; then
  cmake -S "$source_dir" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-native}"
  cmake --build "$build" --target kvexact kvexact_cuda gpu_fuzz kvexact_bench_gpu gpu_check_test gpu_backend_test
fi

echo "== refusals"
"$build/bin/gpu_check_test" --gtest_brief=1
"$build/bin/gpu_backend_test" --gtest_brief=1

echo "== bytes against the strict model"
"$build/bin/gpu_fuzz" --huge --bulk 120 --cases 1000000 --time "$seconds"

echo "== judged by the harness, through the C interface"
"$build/bin/kvexact" verify --backend "lib:$build/lib/libkvexact_cuda.so" --cases 400

if command -v compute-sanitizer >/dev/null && compute-sanitizer true >/dev/null 2>&1; then
  for tool in memcheck racecheck initcheck synccheck; do
    echo "== compute-sanitizer $tool"
    compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/bin/gpu_fuzz" --cases 48 --threads 1
  done
else
  echo "== compute-sanitizer does not run here: left out"
fi

echo "== time"
peers=()
[[ -n ${PEERS:-} ]] && peers=(--peers "$PEERS")
"$build/bin/kvexact_bench_gpu" --variants --json "$build/bench_gpu.jsonl" "${peers[@]}"
