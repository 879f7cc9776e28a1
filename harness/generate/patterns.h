// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "harness/generate/kinds.h"

namespace kvexact::generate {

// Fills one group (what shares a scale) with a pattern of e4m3_mid, e4m3_edge, e2m1_mid, e2m1_edge or bf16_mid.
// mid: the group's maximum fixes the scale 2^k, the others are rounding midpoints * 2^k and their
// neighbours one ulp of bf16 or fp32 away. edge: the maximum is the format's largest value * 2^k or a
// neighbour, the others are smaller.
void FillPattern(ValueKind kind, std::uint64_t stream, std::span<float> group);

}  // namespace kvexact::generate
