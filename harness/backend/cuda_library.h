// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kvexact {

// Path of the CUDA kernels' backend, libkvexact_cuda.so: the environment's KVEXACT_CUDA_LIBRARY, else lib/ beside
// the directory of the running program. Throws InputError if there is no such file.
std::string CudaLibraryPath();

}  // namespace kvexact
