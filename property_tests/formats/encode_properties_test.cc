// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
//
#include <rapidcheck/gtest.h>

#include <cmath>

#include "reference/formats/decode.h"
#include "reference/formats/encode.h"
#include "reference/formats/scale_exponent.h"

namespace kvexact::format_tests {
namespace {

// Bit patterns, half of them within two last places of a value with few mantissa bits.
rc::Gen<float> Floats() {
  const auto whole = [](std::uint64_t end) {
    return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, end));
  };
  return rc::gen::oneOf(
      rc::gen::map(whole(1ULL << 32),
                   [](std::uint64_t b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b)); }),
      rc::gen::map(whole(5ULL << 14), [](std::uint64_t k) {
        return std::bit_cast<float>((static_cast<std::uint32_t>(k / 5) << 18) + static_cast<std::uint32_t>(k % 5) - 2);
      }));
}

rc::Gen<float> Numbers() {
  return rc::gen::suchThat(Floats(), [](float x) { return !std::isnan(x); });
}

rc::Gen<const spec::Format*> Formats() {
  return rc::gen::elementOf(std::vector<const spec::Format*>(std::begin(spec::kFormats), std::end(spec::kFormats)));
}

rc::Gen<Rounding> Roundings() {
  return rc::gen::element(Rounding::kNearestEven, Rounding::kTiesAway, Rounding::kTiesToZero, Rounding::kTiesUp,
                          Rounding::kTiesDown, Rounding::kTowardZero, Rounding::kAwayFromZero);
}

rc::Gen<Overflow> Overflows() { return rc::gen::element(Overflow::kSaturate, Overflow::kToNan, Overflow::kToInfinity); }

RC_GTEST_PROP(EncodeProperties, RoundingTwiceIsRoundingOnce, ()) {
  const spec::Format& format = **Formats();
  const Rounding rounding = *Roundings();
  const std::uint32_t code = Encode(format, *Floats(), rounding, Overflow::kToInfinity);
  RC_ASSERT(Encode(format, Decode(format, code), *Roundings(), Overflow::kToInfinity) == code);
}

RC_GTEST_PROP(EncodeProperties, LargerValuesHaveNoSmallerCodes, ()) {
  const spec::Format& format = **Formats();
  const Rounding rounding = *Roundings();
  float low = *Numbers();
  float high = *Numbers();
  if (!format.is_signed) {
    low = std::fabs(low);
    high = std::fabs(high);
  }
  if (low > high) std::swap(low, high);
  RC_ASSERT(Decode(format, Encode(format, low, rounding, Overflow::kSaturate)) <=
            Decode(format, Encode(format, high, rounding, Overflow::kSaturate)));
}

RC_GTEST_PROP(EncodeProperties, NegationMirrorsTheDirectedTies, ()) {
  const spec::Format& format = **rc::gen::suchThat(Formats(), [](const spec::Format* f) { return f->is_signed; });
  const float x = *Numbers();
  const Overflow overflow = *Overflows();
  const auto value = [&](float y, Rounding rounding) { return Decode(format, Encode(format, y, rounding, overflow)); };
  const float up = value(x, Rounding::kTiesUp);
  const float mirrored = -value(-x, Rounding::kTiesDown);
  RC_ASSERT(up == mirrored || (std::isnan(up) && std::isnan(mirrored)));
}

RC_GTEST_PROP(EncodeProperties, TruncationAndItsOppositeEncloseTheValue, ()) {
  const spec::Format& format = **Formats();
  const float x = std::fabs(*Numbers());
  RC_PRE(x >= Decode(format, 0) && x <= MaxFinite(format));
  const float low = Decode(format, Encode(format, x, Rounding::kTowardZero, Overflow::kSaturate));
  const float high = Decode(format, Encode(format, x, Rounding::kAwayFromZero, Overflow::kSaturate));
  RC_ASSERT(low <= x);
  RC_ASSERT(x <= high);
  const float nearest = Decode(format, Encode(format, x, Rounding::kNearestEven, Overflow::kSaturate));
  RC_ASSERT(nearest == low || nearest == high);
}

RC_GTEST_PROP(ScaleExponentProperties, DoublingAddsOne, ()) {
  const float amax = std::fabs(*Numbers());
  RC_PRE(amax > 0 && amax < 0x1p127F);
  const auto divisor = *rc::gen::element(kDivisor448, kDivisor224, kDivisor6);
  const auto rule = *rc::gen::element(ScaleRounding::kCeil, ScaleRounding::kFloor, ScaleRounding::kNearest,
                                      ScaleRounding::kOcpFloor, ScaleRounding::kOcpCeil, ScaleRounding::kOcpEven);
  RC_ASSERT(ScaleExponent(2 * amax, divisor, rule) == ScaleExponent(amax, divisor, rule) + 1);
}

}  // namespace
}  // namespace kvexact::format_tests
