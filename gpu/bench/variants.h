// SPDX-License-Identifier: Apache-2.0
// The same kernels with another arithmetic, to see what the strict one costs.
#pragma once

#include <cuda_runtime_api.h>

#include "gpu/operations/compress.h"

namespace kvexact::gpu::bench {

enum class Variant {
  kStrict,  // what Launch runs
  kFast,    // ex2.approx, approximate division and root
  kProbe,   // the same loads and stores, next to no arithmetic
};
inline constexpr Variant kVariants[] = {Variant::kStrict, Variant::kFast, Variant::kProbe};
const char* NameOf(Variant variant);

// Launches a description of a production shape.
void LaunchVariant(const CompressDescription& description, Variant variant, cudaStream_t stream);

}  // namespace kvexact::gpu::bench
