// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvexact {

// A directory of this process, in memory where the system has such a place, removed with all it holds on destruction
// and by CleanUpFirst.
class ScratchDirectory {
 public:
  ScratchDirectory();  // throws std::system_error
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kvexact
