#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ci/setup.sh build|test|nightly: makes sure that the tools and libraries of a job are there.
# Asks the machine first and installs, from Debian's or Ubuntu's packages, only what is missing; where that
# cannot be done it says what to install and exits 2. Nothing is installed and no network used when all is there.
set -euo pipefail

# Needs as "program:package" and "header:package".
programs=(c++:g++ cmake:cmake ninja:ninja-build)
headers=(Eigen/Core:libeigen3-dev nlohmann/json.hpp:nlohmann-json3-dev CLI/CLI.hpp:libcli11-dev fmt/core.h:libfmt-dev)
case "${1:-}" in
  build) ;;
  test | nightly)
    programs+=(pkg-config:pkg-config ccache:ccache python3:python3 clang++:clang)
    headers+=(gtest/gtest.h:libgtest-dev gmock/gmock.h:libgmock-dev rapidcheck.h:librapidcheck-dev
      mpfr.h:libmpfr-dev mpfi.h:libmpfi-dev benchmark/benchmark.h:libbenchmark-dev)
    [ "$1" = nightly ] && programs+=(clang-format:clang-format clang-tidy:clang-tidy)
    ;;
  *)
    echo "usage: ci/setup.sh build|test|nightly" >&2
    exit 2
    ;;
esac

# Prints the packages of all needs that the machine does not meet.
missing() {
  local need
  for need in "${programs[@]}"; do
    command -v "${need%%:*}" >/dev/null || echo "${need##*:}"
  done
  if ! command -v c++ >/dev/null; then
    printf '%s\n' "${headers[@]##*:}"
    return
  fi
  # The tests' interpreter is python3 or Debian's own, whichever has the module.
  if [[ " ${programs[*]} " == *" python3:"* ]] &&
    ! python3 -c 'import jsonschema' 2>/dev/null && ! /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    echo python3-jsonschema
  fi
  for need in "${headers[@]}"; do
    printf '#if !__has_include(<%s>)\nMISSING %s\n#endif\n' "${need%%:*}" "${need##*:}"
  done | c++ -x c++ -E -I /usr/include/eigen3 - | sed -n 's/^MISSING //p'
  # CMake takes the first python3 that has numpy.
  if [[ " ${programs[*]} " == *" python3:"* ]] && ! python3 -c 'import numpy' 2>/dev/null &&
    ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    echo python3-numpy
  fi
  # Some releases keep libFuzzer and the sanitizers of clang in a package of their own.
  if [[ " ${programs[*]} " == *" clang++:"* ]] && command -v clang++ >/dev/null &&
    [ -z "$(find "$(clang++ -print-resource-dir)/lib" -name 'libclang_rt.fuzzer*' -print -quit)" ]; then
    echo "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
  fi
}

# install PACKAGE...: installs them, or says what to install and exits 2.
install() {
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
    echo "ci/setup.sh: missing on this machine, by the names of Debian's packages: $*" >&2
    echo "ci/setup.sh: as root: apt-get update && apt-get install --no-install-recommends $*" >&2
    exit 2
  fi
  echo "ci/setup.sh: installing $*" >&2
  export DEBIAN_FRONTEND=noninteractive
  "${as_root[@]}" apt-get -qq -o Acquire::Retries=3 update
  "${as_root[@]}" apt-get -qq -o Acquire::Retries=3 install -y --no-install-recommends "$@" >/dev/null
}

# Twice, since a compiler that was missing can tell what else is once it is there.
for _ in 1 2; do
  mapfile -t packages < <(missing)
  [ "${#packages[@]}" -eq 0 ] || install "${packages[@]}"
done
mapfile -t packages < <(missing)
if [ "${#packages[@]}" -ne 0 ]; then
  echo "ci/setup.sh: still missing after installation: ${packages[*]}" >&2
  exit 2
fi

version=$(cmake --version | sed -n '1s/[^0-9]*//p')
if [ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" != 3.25 ]; then
  echo "ci/setup.sh: CMake 3.25 or later is needed, found $version" >&2
  exit 2
fi
