#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/test.sh: builds everything and runs all tests, first what reads untrusted files under the sanitizers and a short
# fuzzing run, then the whole suite. Fails at the first part that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh test
jobs=$(nproc)

# The reader of case files: its tests under ASan and UBSan.
cmake --preset asan --log-level=WARNING
cmake --build --preset asan -j "$jobs" --target kvexact_sanitized_tests
ctest --preset asan -j "$jobs" -L sanitized

cmake --preset ci --log-level=WARNING
cmake --build --preset ci -j "$jobs"
ctest --preset ci -j "$jobs"
