// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/process/companion.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "harness/case/input_error.h"

namespace kvexact {

std::string WorkerProgram(const std::string& source) {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("KVEXACT_WORKER"); given != nullptr) {
    if (::access(given, X_OK) != 0) throw InputError(source, "KVEXACT_WORKER", "is no program that can be started");
    return given;
  }
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "kvexact-worker";
  if (error || ::access(beside.c_str(), X_OK) != 0) {
    throw InputError(source, "kvexact-worker", "is not beside this program; KVEXACT_WORKER can name it");
  }
  return beside.string();
}

}  // namespace kvexact
