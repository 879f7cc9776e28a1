#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/lint.sh [--fix]: formatting, licence lines, clang-tidy over what the `ci` preset compiles. --fix formats in place.
set -euo pipefail
cd "$(dirname "$0")/.."
ci/setup.sh nightly
status=0

mapfile -t sources < <(git ls-files '*.h' '*.cc' '*.cu' '*.cuh')
if [ "${1:-}" = --fix ]; then
  clang-format -i "${sources[@]}"
fi
clang-format --dry-run -Werror "${sources[@]}" || status=1

while IFS= read -r file; do
  if ! head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0'; then
    echo "$file: no SPDX line" >&2
    status=1
  fi
done < <(git ls-files '*.h' '*.cc' '*.cu' '*.cuh' '*.py' '*.sh' '*.cmake' '*CMakeLists.txt' .ci/run)

# GCC's precompiled headers are none of clang's.
cmake --preset ci -B build/lint --log-level=WARNING -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON
mapfile -t units < <(git ls-files '*.cc')
printf '%s\0' "${units[@]}" |
  xargs -0 -P "$(nproc)" -n 4 clang-tidy -p build/lint --quiet --warnings-as-errors='*' || status=1
exit "$status"
