// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kvexact {

// How this program was built.
struct BuildInfo {
  const char* version;
  const char* git_revision;  // "unknown" outside a git checkout; ends with "+" if files differed from it
  const char* compiler;      // name and version
  const char* build_type;    // of CMake; "none" if there was none
};
const BuildInfo& ThisBuild();

}  // namespace kvexact
