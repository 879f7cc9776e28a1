// SPDX-License-Identifier: Apache-2.0
// bf16 for hot loops: nearest even, overflow to infinity, NaN to 0x7FFF.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/spec/format.h"

namespace kvexact {

// Equals Encode(spec::kBf16, x, kNearestEven, kToInfinity) for every x.
constexpr std::uint16_t RoundToBf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1)) >> 16;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFFU) > 0x7F800000U ? spec::kBf16.canonical_nan : rounded);
}

// Exact; a NaN keeps its payload.
constexpr float WidenBf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

static_assert(RoundToBf16(1.0F) == 0x3F80);
static_assert(RoundToBf16(0x1.01p0F) == 0x3F80 && RoundToBf16(0x1.03p0F) == 0x3F82);
static_assert(WidenBf16(0xC040) == -3.0F);

}  // namespace kvexact
