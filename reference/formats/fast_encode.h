// SPDX-License-Identifier: Apache-2.0
// Nearest-even, saturating encoding into a small signed format without branches, so that a loop over
// it vectorises. Equals Encode(format, x, kNearestEven, kSaturate) for every x that is not a NaN.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/formats/decode.h"
#include "reference/formats/properties.h"
#include "reference/spec/format.h"

namespace kvexact {

// A conditional by masks: compilers turn ?: into branches, and then do not vectorise.
constexpr std::uint32_t Select(bool condition, std::uint32_t if_true, std::uint32_t if_false) {
  const std::uint32_t mask = 0U - static_cast<std::uint32_t>(condition);
  return (if_true & mask) | (if_false & ~mask);
}

// The code of `x`, or `nan_code` where x is a NaN. Needs the default rounding mode of the processor;
// flush to zero does not change the result.
template <const spec::Format& kFormat>
constexpr std::uint32_t EncodeFast(float x, std::uint32_t nan_code) {
  static_assert(kFormat.is_signed && kFormat.has_subnormals && !kFormat.has_infinity, "small signed formats only");
  constexpr int kDropped = 23 - kFormat.mantissa_bits;
  constexpr auto kLargest = std::bit_cast<std::uint32_t>(MaxFinite(kFormat));
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(MinExponent(kFormat) + 127) << 23;
  constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kFormat.bias) << kFormat.mantissa_bits;
  // A float whose last mantissa bit weighs as much as the smallest subnormal.
  constexpr std::uint32_t kAlign = static_cast<std::uint32_t>(MinExponent(kFormat) - kFormat.mantissa_bits + 23 + 127)
                                   << 23;
  constexpr bool kHasNegativeZero = kFormat.nan != spec::NanCode::kNegativeZero;

  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t absolute = bits & 0x7FFFFFFFU;
  const std::uint32_t clamped = absolute < kLargest ? absolute : kLargest;
  const std::uint32_t normal =
      ((clamped + ((1U << (kDropped - 1)) - 1) + ((clamped >> kDropped) & 1)) >> kDropped) - kRebias;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(clamped) + std::bit_cast<float>(kAlign)) - kAlign;
  const std::uint32_t magnitude = Select(clamped < kSmallestNormal, subnormal, normal);
  std::uint32_t sign = (bits >> 31) << (kFormat.bits - 1);
  if constexpr (!kHasNegativeZero) sign = Select(magnitude == 0, 0, sign);
  return Select(absolute > 0x7F800000U, nan_code, sign | magnitude);
}

}  // namespace kvexact
