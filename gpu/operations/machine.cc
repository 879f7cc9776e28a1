// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/machine.h"

namespace kvexact::gpu {

Status FromCuda(cudaError_t error) {
  if (error == cudaSuccess) return {};
  // A machine without a driver answers cudaErrorInsufficientDriver.
  if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice) {
    return {StatusCode::kFailed, "no CUDA device: no NVIDIA GPU or driver is present"};
  }
  if (error == cudaErrorNoKernelImageForDevice) {
    return {StatusCode::kFailed, "the kernels were not compiled for this GPU (see CMAKE_CUDA_ARCHITECTURES)"};
  }
  return {StatusCode::kFailed, std::string(cudaGetErrorName(error)) + ": " + cudaGetErrorString(error)};
}

Status ThisMachine(Machine& machine) {
  int device = 0;
  if (const cudaError_t e = cudaGetDevice(&device); e != cudaSuccess) return FromCuda(e);
  if (const cudaError_t e = cudaDeviceGetAttribute(&machine.multiprocessors, cudaDevAttrMultiProcessorCount, device);
      e != cudaSuccess) {
    return FromCuda(e);
  }
  return FromCuda(cudaDeviceGetAttribute(&machine.compute_major, cudaDevAttrComputeCapabilityMajor, device));
}

}  // namespace kvexact::gpu
