// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "gpu/operations/status.h"

namespace kvexact::gpu {

// What launches depend on; results do not.
struct Machine {
  int multiprocessors = 1;
  int compute_major = 0;
};

// Of the current device.
Status ThisMachine(Machine& machine);

// kFailed with the runtime's words; a missing driver or device is said in plain ones.
Status FromCuda(cudaError_t error);

}  // namespace kvexact::gpu
