// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/process/scratch_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "harness/backend/process/interruption.h"

namespace kvexact {

ScratchDirectory::ScratchDirectory() {
  std::error_code none;
  const std::string usual = std::filesystem::temp_directory_path(none).string();
  const auto lock = interruption::Lock();
  for (const std::string& parent : {std::string("/dev/shm"), usual}) {
    path_ = parent + "/kvexact-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) continue;
    interruption::AddDirectory(path_);
    return;
  }
  throw std::system_error(errno, std::generic_category(), "no directory for temporary files");
}

ScratchDirectory::~ScratchDirectory() {
  const auto lock = interruption::Lock();
  interruption::RemoveDirectory(path_);
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kvexact
