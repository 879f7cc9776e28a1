#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/verify.sh [ARGUMENT...]: builds what the command line needs and runs the main job: the recorded outputs of real
# GPU kernels are judged element by element, then a backend of our own is verified on generated cases (the CUDA kernels
# where a GPU and nvcc are present, the host port elsewhere). Arguments go to `kvexact verify`, for instance --cases 500.
# Exits with the first status that is not 0.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh build

preset=host
backend=host
targets=(kvexact)
if command -v nvcc >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  preset=cuda
  backend=cuda
  targets+=(kvexact_cuda)
fi
# Standard output is kept for the verdicts.
{
  cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset" --target "${targets[@]}"
} >&2
kvexact="build/$preset/bin/kvexact"

echo "\$ kvexact replay golden/recorded --recorded"
"$kvexact" replay golden/recorded --recorded
echo
echo "\$ kvexact verify --backend $backend${*:+ $*}"
"$kvexact" verify --backend "$backend" "$@"
