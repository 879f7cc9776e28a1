#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/nightly.sh [PART...]: the long checks, each by name (all of them without arguments):
#   matrix     the same bytes from g++ and clang, -O0 and -O3, with and without FMA hardware
#   sanitized  the whole suite under ASan and UBSan
#   sweeps     all 2^32 floats; 10,000 tokens a budget against perturbed evaluations; 10,000 cases against the witness of
#              the stores and through the host backend
#   fuzz       an hour of the case reader's fuzz target
#   lint       ci/lint.sh
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh nightly
jobs=$(nproc)

matrix() {
  local compiler level isa dir digest first=""
  for compiler in g++ clang++; do
    for level in -O0 -O3; do
      for isa in "" "-mfma -mavx2"; do
        [ -z "$isa" ] || grep -q ' fma ' /proc/cpuinfo || continue
        dir="build/matrix/$compiler$level${isa:+-fma}"
        cmake -S . -B "$dir" -G Ninja --log-level=WARNING -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE= \
          -DCMAKE_CXX_FLAGS="$level $isa" -DKVEXACT_TESTS=OFF -DKVEXACT_CUDA=OFF -DKVEXACT_WERROR=OFF
        cmake --build "$dir" -j "$jobs" --target kvexact
        rm -rf "$dir/cases"
        for op in $("$dir/bin/kvexact" list ops | awk '{print $1}'); do
          "$dir/bin/kvexact" gen --op "$op" --seed 1 --cases 50 --record reference --out "$dir/cases/$op" >/dev/null
        done
        digest=$(cd "$dir/cases" && find . -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-64)
        echo "$digest  $compiler $level ${isa:-(no FMA)}  $(find "$dir/cases" -type f | wc -l) cases"
        : "${first:=$digest}"
        [ "$digest" = "$first" ] || { echo "matrix: bytes differ from the first build's" >&2; return 1; }
      done
    done
  done
}

sanitized() {
  cmake --preset asan --log-level=WARNING
  cmake --build --preset asan -j "$jobs"
  ctest --preset asan -j "$jobs"
}

sweeps() {
  local program
  export KVEXACT_NIGHTLY=1 KVEXACT_SOUNDNESS_TOKENS=10000 KVEXACT_STORED_WITNESS_CASES=10000
  cmake --preset ci --log-level=WARNING
  cmake --build --preset ci -j "$jobs"
  # Not by CTest, whose time limits are those of the short runs.
  for program in formats_sweep_test soundness_test strict_witness_test stored_witness_test; do
    "build/ci/bin/$program"
  done
  build/ci/bin/kvexact verify --backend host --cases 10000
}

fuzz() {
  cmake --preset fuzz --log-level=WARNING
  cmake --build --preset fuzz -j "$jobs"
  build/fuzz/bin/write_fuzz_corpus build/fuzz/corpus
  build/fuzz/bin/case_reader_fuzz -max_len=300000 -max_total_time=3600 -artifact_prefix=build/fuzz/ build/fuzz/corpus
}

lint() { ci/lint.sh; }

[ $# -gt 0 ] || set -- matrix sanitized sweeps fuzz lint
for part in "$@"; do
  echo "== $part"
  "$part"
done
