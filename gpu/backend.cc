// SPDX-License-Identifier: Apache-2.0
// The kernels behind the C interface, on tensors in device memory.
#include <cuda_runtime_api.h>

#include <exception>
#include <string>

#include "gpu/backend_launch.h"
#include "gpu/operations/machine.h"
#include "harness/abi/kvexact_backend.h"

struct kvexact_backend {
  std::string error;
};

namespace {

using kvexact::gpu::FromCuda;
using kvexact::gpu::Status;
using kvexact::gpu::StatusCode;

std::string& FreeError() {
  thread_local std::string error;
  return error;
}

// Runs `work`, which gives a Status, and keeps its message.
template <class Work>
std::int32_t Answer(std::string& error, Work work) {
  try {
    Status status = work();
    error = std::move(status.message);
    switch (status.code) {
      case StatusCode::kOk:
        return KVEXACT_OK;
      case StatusCode::kUnsupported:
        return KVEXACT_UNSUPPORTED;
      default:
        return KVEXACT_ERROR;
    }
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "an unknown exception";
  }
  return KVEXACT_ERROR;
}

std::int32_t DescribeBackend(kvexact_backend_info* info) {
  static std::string device = [] {
    cudaDeviceProp properties;
    const cudaError_t e = cudaGetDeviceProperties(&properties, 0);
    return e == cudaSuccess ? std::string(properties.name) : FromCuda(e).message;
  }();
  info->memory = KVEXACT_MEMORY_CUDA;
  info->bit_exact = KVEXACT_BIT_EXACT;
  info->name = KVEXACT_NAME;
  info->version = "1";
  info->device = device.c_str();
  info->policy = "seed";
  return KVEXACT_OK;
}

std::int32_t Create(const kvexact_create_args* args, kvexact_backend** backend) {
  return Answer(FreeError(), [&] {
    if (Status s = FromCuda(cudaSetDevice(args->device)); !s.ok()) return s;
    // Creates the context, so that its failure is known here.
    if (Status s = FromCuda(cudaFree(nullptr)); !s.ok()) return s;
    *backend = new kvexact_backend;
    return Status{};
  });
}

std::int32_t Supports(kvexact_backend* backend, const kvexact_launch* launch) {
  return Answer(backend->error, [&] { return kvexact::gpu::CheckShapes(*launch); });
}

std::int32_t Run(kvexact_backend* backend, const kvexact_launch* launch, void* stream) {
  return Answer(backend->error, [&] { return kvexact::gpu::Launch(*launch, static_cast<cudaStream_t>(stream)); });
}

const char* LastError(const kvexact_backend* backend) {
  return backend == nullptr ? FreeError().c_str() : backend->error.c_str();
}

void Destroy(kvexact_backend* backend) { delete backend; }

}  // namespace

extern "C" const kvexact_backend_api* kvexact_backend_get_api(uint32_t abi_version) {
  static const kvexact_backend_api api = {
      sizeof(kvexact_backend_api), KVEXACT_ABI_VERSION, DescribeBackend, Create, Supports, Run, LastError, Destroy};
  return abi_version == KVEXACT_ABI_VERSION ? &api : nullptr;
}
