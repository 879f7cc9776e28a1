// SPDX-License-Identifier: Apache-2.0
// bfloat16 as a bit pattern.
#pragma once

#include <bit>
#include <cstdint>

namespace kvexact::host {

inline float FromBf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// Nearest even, overflow to infinity; every NaN is 0x7FFF.
inline std::uint16_t ToBf16(float x) {
  if (x != x) return 0x7FFF;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t keep_even = (bits >> 16) & 1U;
  return static_cast<std::uint16_t>((bits + 0x7FFFU + keep_even) >> 16);
}

inline float RoundToBf16(float x) { return FromBf16(ToBf16(x)); }

}  // namespace kvexact::host
