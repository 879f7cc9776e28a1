// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "gpu/operations/machine.h"
#include "gpu/tests/device_arena.h"
#include "harness/case/case.h"

namespace kvexact::gpu {

// Device state of one thread of a fuzz run.
struct FuzzDevice {
  DeviceArena arena;
  cudaStream_t stream = nullptr;
};

struct FuzzOutcome {
  std::int64_t launches = 0;
  std::int64_t bytes = 0;  // that the operation writes, over all launches
  std::string failure;     // empty if every launch gave the reference's bytes and nothing else changed
};

// Runs the case through the reference once and through the kernels several times: aligned and misaligned buffers, twice
// in a row, and as if on machines of other sizes; compares every byte of every output buffer.
FuzzOutcome FuzzCase(const Case& c, const Machine& machine, FuzzDevice& device);

// Runs the case once through the kernels; `outputs` holds what the buffers held and receives what they hold then. Empty
// if it ran.
std::string RunOnDevice(const Case& c, TensorMap& outputs, FuzzDevice& device);

// A launch into a KV cache and out of a state cache that both reach beyond 2^32 bytes; empty if all bytes are right.
std::string FuzzHuge(std::int64_t seed);

}  // namespace kvexact::gpu
