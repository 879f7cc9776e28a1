// SPDX-License-Identifier: Apache-2.0
// Floats built from integers without rounding, so that no compiler or library can differ.
#pragma once

#include <bit>
#include <cstdint>

namespace kvexact::generate {

// 2^e for e in [-126, 127].
constexpr float PowerOfTwo(int e) { return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23); }

// Bell-shaped, mean 0, deviation 1, within [-3, 3]: the sum of three uniform numbers of 21 bits. A multiple of 2^-20.
constexpr float Bell(std::uint64_t random) {
  constexpr std::uint64_t kMask = (1U << 21) - 1;
  const auto sum = static_cast<std::int32_t>((random & kMask) + ((random >> 21) & kMask) + ((random >> 42) & kMask));
  return static_cast<float>(sum - 3 * (1 << 20)) * 0x1p-20F;
}

// Uniform in [0, 1), a multiple of 2^-24, from the high bits.
constexpr float Unit(std::uint64_t random) { return static_cast<float>(random >> 40) * 0x1p-24F; }

// x with the sign of the lowest bit of `random`.
constexpr float Signed(float x, std::uint64_t random) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) ^ (static_cast<std::uint32_t>(random & 1U) << 31));
}

// The float `ulps` steps away from x > 0 towards infinity (towards zero if negative).
constexpr float Step(float x, std::int32_t ulps) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(ulps));
}
inline constexpr std::int32_t kBf16Ulp = 1 << 16;  // a step of Step between neighbours in bf16

// Bits of x in bf16, rounded to nearest even; a NaN stays a NaN.
constexpr std::uint16_t Bf16Bits(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

}  // namespace kvexact::generate
