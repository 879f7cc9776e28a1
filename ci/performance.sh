#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/performance.sh REVISION: are the CUDA kernels of this tree slower than those of an earlier revision? Builds both here
# and times them in turns on this machine's GPU. Exits 0 not slower, 5 slower, 6 ambiguous, 3 without a GPU.
#   ROUNDS=N  pairs of rounds a workload (default 200)
set -euo pipefail
cd "$(dirname "$0")/.."
revision=${1:?usage: ci/performance.sh REVISION}
git rev-parse --verify --quiet "$revision^{commit}" >/dev/null || {
  echo "ci/performance.sh: $revision is no revision here" >&2
  exit 2
}
if ! nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then
  echo "ci/performance.sh: no NVIDIA GPU here (nvidia-smi -L lists none)" >&2
  exit 3
fi
ci/setup.sh test
earlier=build/earlier
rm -rf "$earlier"
git worktree prune
git worktree add --detach "$earlier/source" "$revision" >&2
trap 'git worktree remove --force "$earlier/source"' EXIT
for source in . "$earlier/source"; do
  cmake -S "$source" -B "$source/build/performance" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CUDA_ARCHITECTURES=native -DKVEXACT_TESTS=OFF >&2
  cmake --build "$source/build/performance" --target kvexact_cuda >&2
done
cmake --build build/performance --target kvexact kvexact_worker >&2
mkdir -p build/performance/report
build/performance/bin/kvexact bench --backend lib:build/performance/lib/libkvexact_cuda.so \
  --against "lib:$earlier/source/build/performance/lib/libkvexact_cuda.so" --rounds "${ROUNDS:-200}" \
  --json build/performance/report/comparison.jsonl
