// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kvexact {

// The fp32 products of `factors` (2 to 4 of them) in any order and association, with and without
// flushing of subnormal operands and results; rounded to bf16 if `bf16`. Bits of the stored type,
// ascending and distinct; every NaN is the canonical one.
std::vector<std::uint32_t> FoldedWeights(std::span<const float> factors, bool bf16);

}  // namespace kvexact
