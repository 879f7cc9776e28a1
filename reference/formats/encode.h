// SPDX-License-Identifier: Apache-2.0
// Value to code, over integers only, for any format and every rounding rule. The fast encoders
// (bf16.h, e4m3.h, e2m1.h) equal it under nearest even.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/formats/properties.h"
#include "reference/formats/rounding.h"
#include "reference/spec/format.h"

namespace kvexact {

// Whether a magnitude that lies `rest` / 2^shift of a step above `code` takes the step; rest > 0.
constexpr bool RoundsUp(Rounding rounding, bool negative, bool code_is_odd, std::uint64_t rest, int shift) {
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const bool tie = rest == half;
  switch (rounding) {
    case Rounding::kNearestEven:
      return rest > half || (tie && code_is_odd);
    case Rounding::kTiesAway:
      return rest >= half;
    case Rounding::kTiesToZero:
      return rest > half;
    case Rounding::kTiesUp:
      return rest > half || (tie && !negative);
    case Rounding::kTiesDown:
      return rest > half || (tie && negative);
    case Rounding::kTowardZero:
      return false;
    case Rounding::kAwayFromZero:
      return true;
  }
  return false;
}

// The code of `x`. A NaN gives NanResult(format). A format without sign encodes |x|; one without zero
// gives its smallest value for everything that rounds below it. Negative values that round to zero
// keep their sign, except where -0 is the NaN (E4M3FNUZ).
constexpr std::uint32_t Encode(const spec::Format& format, float x, Rounding rounding, Overflow overflow) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t absolute = bits & 0x7FFFFFFFU;
  if (absolute > 0x7F800000U) return NanResult(format);

  const bool negative = format.is_signed && (bits >> 31) != 0;
  const std::uint32_t sign = negative ? SignMask(format) : 0;

  std::uint64_t magnitude = InfinityCode(format);
  if (absolute < 0x7F800000U) {
    // |x| = significand * 2^unit.
    const auto field = static_cast<int>(absolute >> 23);
    const std::uint64_t significand = field == 0 ? absolute : (absolute & 0x7FFFFFU) | 0x800000U;
    const int unit = field == 0 ? -149 : field - 150;

    // A step of the format at |x| is 2^step; steps do not shrink below the first binade.
    const int leading = unit + static_cast<int>(std::bit_width(significand)) - 1;
    const int binade = leading > MinExponent(format) ? leading : MinExponent(format);
    const int step = binade - format.mantissa_bits;
    const int distance = step - unit;
    const int shift = distance < 0 ? 0 : distance > 40 ? 40 : distance;  // the significand has 24 bits
    const std::uint64_t whole = distance < 0 ? significand << -distance : significand >> shift;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);

    // Codes count steps, binade after binade. A format without subnormals starts at one.
    const std::int64_t first = format.has_subnormals ? 0 : std::int64_t{1} << format.mantissa_bits;
    const std::int64_t below =
        (std::int64_t{binade - MinExponent(format)} << format.mantissa_bits) + static_cast<std::int64_t>(whole) - first;
    const bool up = rest != 0 && RoundsUp(rounding, negative, (below & 1) != 0, rest, shift);
    const std::int64_t code = below + (up ? 1 : 0);
    magnitude = code < 0 ? 0 : static_cast<std::uint64_t>(code);
  }

  if (magnitude > MaxFiniteCode(format)) {
    const bool to_infinity = overflow == Overflow::kToInfinity && format.has_infinity;
    if (to_infinity) return sign | InfinityCode(format);
    if (overflow != Overflow::kSaturate && format.nan != spec::NanCode::kNone) return format.canonical_nan;
    return sign | MaxFiniteCode(format);
  }
  if (magnitude == 0 && format.nan == spec::NanCode::kNegativeZero) return 0;
  return sign | static_cast<std::uint32_t>(magnitude);
}

static_assert(Encode(spec::kE4M3Fn, 464.0F, Rounding::kNearestEven, Overflow::kToNan) == 0x7E);
static_assert(Encode(spec::kE4M3Fn, 465.0F, Rounding::kNearestEven, Overflow::kToNan) == 0x7F);
static_assert(Encode(spec::kE4M3Fn, -465.0F, Rounding::kNearestEven, Overflow::kSaturate) == 0xFE);
static_assert(Encode(spec::kE4M3Fn, 4.25F, Rounding::kNearestEven, Overflow::kSaturate) == 0x48);
static_assert(Encode(spec::kE4M3Fn, 4.25F, Rounding::kTiesAway, Overflow::kSaturate) == 0x49);
static_assert(Encode(spec::kE4M3Fnuz, -0.0F, Rounding::kNearestEven, Overflow::kSaturate) == 0);
static_assert(Encode(spec::kE2M1, -0.25F, Rounding::kNearestEven, Overflow::kSaturate) == 8);
static_assert(Encode(spec::kUe8m0, 0.0F, Rounding::kNearestEven, Overflow::kSaturate) == 0);
static_assert(Encode(spec::kUe8m0, 1.5F, Rounding::kNearestEven, Overflow::kSaturate) == 128);
static_assert(Encode(spec::kBf16, 0x1.FFp127F, Rounding::kNearestEven, Overflow::kToInfinity) == 0x7F80);

}  // namespace kvexact
