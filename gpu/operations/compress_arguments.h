// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gpu/operations/compress.h"
#include "gpu/stages/arguments.cuh"

namespace kvexact::gpu {

// Whether every row of the state starts at a multiple of 16 bytes.
bool StateAligned(const CompressDescription& description);

// What kernels get of a checked description; token_step and run_shift are left to the launch.
CompressArguments ArgumentsOf(const CompressDescription& description);

}  // namespace kvexact::gpu
