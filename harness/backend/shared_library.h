// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvexact {

// A shared library of this process, closed on destruction.
class SharedLibrary {
 public:
  // Throws InputError with `source` if there is no such file or the loader refuses it. The path is never searched for
  // in library directories.
  SharedLibrary(const std::string& path, const std::string& source);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // Address of an exported symbol; null if there is none.
  void* Find(const char* symbol) const;

 private:
  void* handle_;
};

}  // namespace kvexact
