#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/nightly.sh [PART...]: the long checks, each by name (all of them without arguments):
#   matrix     the same bytes from g++ and clang, -O0 and -O3, with and without FMA hardware
#   sanitized  the whole suite under ASan and UBSan
#   sweeps     all 2^32 floats; many tokens a budget against perturbed evaluations; many cases against the witness of
#              the stores
#   random     new cases for a while: from a new seed, which is printed and stands in the report
#   honest     100,000 cases through honest ports of other arithmetics, 100,000 each through the built-in backends
#   faults     the table of faults: how soon each is found, how far its failure shrinks, what diagnosis says; properties
#   fuzz       the case reader's fuzz target for a while
#   lint       ci/lint.sh
# Reports, and inputs that broke something, are kept in build/nightly.
#   NIGHTLY_SECONDS=N  time of `random` and of `fuzz` each (default 3600)
#   NIGHTLY_CASES=N    tokens a budget and cases of `sweeps` (default 10000)
#   NIGHTLY_SEED=N     seed of `random` instead of a new one
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh nightly
jobs=$(nproc)
seconds=${NIGHTLY_SECONDS:-3600}
cases=${NIGHTLY_CASES:-10000}
kept=build/nightly
mkdir -p "$kept"

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

build_ci() {
  cmake --preset ci --log-level=WARNING
  cmake --build --preset ci -j "$jobs" --target "$@"
}

sweeps() {
  local program programs=(formats_sweep_test soundness_test strict_witness_test stored_witness_test)
  build_ci "${programs[@]}"
  # Not by CTest, whose time limits are those of the short runs.
  for program in "${programs[@]}"; do
    KVEXACT_NIGHTLY=1 KVEXACT_SOUNDNESS_TOKENS=$cases KVEXACT_STORED_WITNESS_CASES=$cases "build/ci/bin/$program"
  done
}

random() {
  local seed=${NIGHTLY_SEED:-$(od -An -N7 -tu8 /dev/urandom | tr -d ' ')}
  local backend=host
  build_ci kvexact
  if nvidia-smi -L 2>/dev/null | grep -q '^GPU' && [ -n "$(command -v nvcc)" ]; then
    backend=cuda
    build_ci kvexact_cuda kvexact_worker
  fi
  echo "random: NIGHTLY_SEED=$seed ci/nightly.sh random repeats this"
  build/ci/bin/kvexact verify --backend "$backend" --seed "$seed" --time "${seconds}s" \
    --json "$kept/random.json" --junit "$kept/random.xml" --markdown "$kept/random.md" --html "$kept/random.html"
}

honest() {
  local backend
  build_ci honest_ports kvexact
  build/ci/bin/honest_ports 100000
  for backend in reference host; do
    build/ci/bin/kvexact verify --backend "$backend" --cases 100000 --seed 2
  done
}

faults() {
  build_ci kvexact shrink_table diagnose_table properties_test
  build/ci/bin/kvexact faults
  build/ci/bin/shrink_table
  build/ci/bin/diagnose_table
  build/ci/bin/diagnose_table --port 30
  RC_PARAMS=max_success=1000 build/ci/bin/properties_test
}

fuzz() {
  cmake --preset fuzz --log-level=WARNING
  cmake --build --preset fuzz -j "$jobs"
  build/fuzz/bin/write_fuzz_corpus build/fuzz/corpus
  build/fuzz/bin/case_reader_fuzz -max_len=300000 "-max_total_time=$seconds" "-artifact_prefix=$kept/" build/fuzz/corpus
}

lint() { ci/lint.sh; }

[ $# -gt 0 ] || set -- matrix sanitized sweeps random honest faults fuzz lint
for part in "$@"; do
  case "$part" in
    matrix | sanitized | sweeps | random | honest | faults | fuzz | lint) ;;
    *)
      echo "ci/nightly.sh: no part is called $part" >&2
      exit 2
      ;;
  esac
done
for part in "$@"; do
  echo "== $part"
  "$part"
done
