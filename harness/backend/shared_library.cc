// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/shared_library.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "harness/case/case.h"

namespace kvexact {

SharedLibrary::SharedLibrary(const std::string& path, const std::string& source) : handle_(nullptr) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) throw InputError(source, "path", "no such file");
  handle_ = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw InputError(source, "path", dlerror());
}

SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::Find(const char* symbol) const { return dlsym(handle_, symbol); }

}  // namespace kvexact
