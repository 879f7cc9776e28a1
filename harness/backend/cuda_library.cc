// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/cuda_library.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "harness/case/input_error.h"

namespace kvexact {

std::string CudaLibraryPath() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const char* named = std::getenv("KVEXACT_CUDA_LIBRARY"); named != nullptr) {
    if (!fs::is_regular_file(named, error)) throw InputError(named, "KVEXACT_CUDA_LIBRARY", "is no file");
    return named;
  }
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path library = program.parent_path().parent_path() / "lib" / "libkvexact_cuda.so";
  if (error || !fs::is_regular_file(library, error)) {
    throw InputError("cuda", "backend", "this build has no CUDA kernels: " + library.string() + " does not exist");
  }
  return library;
}

}  // namespace kvexact
