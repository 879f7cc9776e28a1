#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/test.sh: what a change must pass. First the tests of what reads untrusted files and of every operation on the golden
# cases, under ASan and UBSan, and a short run of the reader's fuzz target; then everything is built as it ships and all
# tests run. Stops at the first part that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh test
jobs=$(nproc)

cmake --preset asan --log-level=WARNING
for part in case golden; do
  cmake --build --preset asan -j "$jobs" --target "property_tests/$part/all"
  ctest --test-dir "build/asan/property_tests/$part" -j "$jobs" --output-on-failure --no-tests=error
done

cmake --preset fuzz --log-level=WARNING
cmake --build --preset fuzz -j "$jobs"
ctest --test-dir build/fuzz/property_tests/case -R '^case_reader_fuzz' --output-on-failure --no-tests=error

cmake --preset ci --log-level=WARNING
cmake --build --preset ci -j "$jobs"
ctest --preset ci -j "$jobs"
