// SPDX-License-Identifier: Apache-2.0
// Constants of the production shapes that device code needs by value.
#pragma once

#include "reference/spec/layout.h"

namespace kvexact::gpu {

inline constexpr int kRopeDim = 64;
inline constexpr int kSparseHead = 512;
inline constexpr int kIndexerHead = 128;
inline constexpr int kSparseScales = spec::kSparseAttnLayout.scales();

}  // namespace kvexact::gpu
