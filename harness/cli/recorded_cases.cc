// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/recorded_cases.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "harness/case/input_error.h"

namespace kvexact::cli {
namespace {

namespace fs = std::filesystem;

bool IsDirectory(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

fs::path InstalledDirectory() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : (program.parent_path() / KVEXACT_INSTALLED_CASES).lexically_normal();
}

}  // namespace

std::string RecordedCasesDirectory(const std::string& given) {
  const char* environment = std::getenv("KVEXACT_GOLDEN");
  if (!given.empty() || environment != nullptr) {
    const std::string path = !given.empty() ? given : environment;
    if (!IsDirectory(path)) throw InputError(path, given.empty() ? "KVEXACT_GOLDEN" : "--golden", "is no directory");
    return path;
  }
  const fs::path installed = InstalledDirectory();
  if (!installed.empty() && IsDirectory(installed)) return installed.string();
  if (IsDirectory(KVEXACT_SOURCE_CASES)) return KVEXACT_SOURCE_CASES;
  throw InputError("selftest", "--golden", "the recorded cases were not found; name their directory");
}

}  // namespace kvexact::cli
