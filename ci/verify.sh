#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/verify.sh [ARGUMENT...]: builds what the command line needs and runs the main job: the recorded outputs of real
# GPU kernels are judged element by element, then the built-in backend is verified on generated cases (`cuda` where a
# GPU and nvcc are present, `host` elsewhere). Arguments go to `kvexact verify`, for instance --cases 500.
# Exits with the first status that is not 0.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh build

backend=host
if command -v nvcc >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  backend=cuda
fi
# Standard output is kept for the verdicts.
{
  cmake --preset "$backend" --log-level=WARNING
  cmake --build --preset "$backend" --target kvexact
} >&2
kvexact="build/$backend/bin/kvexact"

echo "\$ kvexact replay golden/recorded --recorded"
"$kvexact" replay golden/recorded --recorded
echo
echo "\$ kvexact verify --backend $backend $*"
"$kvexact" verify --backend "$backend" "$@"
