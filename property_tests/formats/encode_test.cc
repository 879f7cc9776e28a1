// SPDX-License-Identifier: Apache-2.0
#include "reference/formats/encode.h"

#include <gtest/gtest.h>

#include <limits>

#include "reference/formats/bf16.h"

namespace kvexact::format_tests {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

std::uint32_t Saturating(const spec::Format& format, float x, Rounding rounding = Rounding::kNearestEven) {
  return Encode(format, x, rounding, Overflow::kSaturate);
}

float FromBits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// NaNs of both signs, quiet and signalling.
constexpr std::uint32_t kNans[] = {0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0xFF800001U, 0xFFC00000U, 0xFFFFFFFFU};

TEST(Encode, E2M1TiesByRule) {
  const struct {
    float x;
    std::uint32_t even, away, to_zero;  // also of -x, with the sign bit
  } kTies[] = {{0.25F, 0, 1, 0}, {0.75F, 2, 2, 1}, {1.25F, 2, 3, 2}, {1.75F, 4, 4, 3},
               {2.5F, 4, 5, 4},  {3.5F, 6, 6, 5},  {5.0F, 6, 7, 6}};
  for (const auto& tie : kTies) {
    for (const bool negative : {false, true}) {
      const float x = negative ? -tie.x : tie.x;
      const std::uint32_t sign = negative ? 8 : 0;
      EXPECT_EQ(Saturating(spec::kE2M1, x), sign | tie.even) << x;
      EXPECT_EQ(Saturating(spec::kE2M1, x, Rounding::kTiesAway), sign | tie.away) << x;
      EXPECT_EQ(Saturating(spec::kE2M1, x, Rounding::kTiesToZero), sign | tie.to_zero) << x;
      EXPECT_EQ(Saturating(spec::kE2M1, x, Rounding::kTiesUp), sign | (negative ? tie.to_zero : tie.away)) << x;
      EXPECT_EQ(Saturating(spec::kE2M1, x, Rounding::kTiesDown), sign | (negative ? tie.away : tie.to_zero)) << x;
      EXPECT_EQ(Saturating(spec::kE2M1, x, Rounding::kTowardZero), sign | tie.to_zero) << x;
      EXPECT_EQ(Saturating(spec::kE2M1, x, Rounding::kAwayFromZero), sign | tie.away) << x;
    }
  }
}

TEST(Encode, NearestDecidesOneUlpBesideATie) {
  for (const Rounding rounding :
       {Rounding::kNearestEven, Rounding::kTiesAway, Rounding::kTiesToZero, Rounding::kTiesUp, Rounding::kTiesDown}) {
    EXPECT_EQ(Saturating(spec::kE2M1, 0x1.3FFFFEp1F, rounding), 4U);  // below 2.5
    EXPECT_EQ(Saturating(spec::kE2M1, 0x1.400002p1F, rounding), 5U);
    EXPECT_EQ(Saturating(spec::kE4M3Fn, 0x1.0FFFFEp2F, rounding), 0x48U);  // below 4.25
    EXPECT_EQ(Saturating(spec::kE4M3Fn, 0x1.100002p2F, rounding), 0x49U);
    EXPECT_EQ(Saturating(spec::kE4M3Fn, 0x1.FFFFFEp-11F, rounding), 0U);  // below half the smallest subnormal
    EXPECT_EQ(Saturating(spec::kE4M3Fn, 0x1.000002p-10F, rounding), 1U);
  }
}

TEST(Encode, E2M1SaturatesAndHasNoNan) {
  for (const Overflow overflow : {Overflow::kSaturate, Overflow::kToNan, Overflow::kToInfinity}) {
    for (const float x : {6.0F, 6.5F, 7.0F, 8.0F, 1e30F, kInf}) {
      EXPECT_EQ(Encode(spec::kE2M1, x, Rounding::kNearestEven, overflow), 7U) << x;
      EXPECT_EQ(Encode(spec::kE2M1, -x, Rounding::kNearestEven, overflow), 15U) << x;
    }
    for (const std::uint32_t nan : kNans) {
      EXPECT_EQ(Encode(spec::kE2M1, FromBits(nan), Rounding::kNearestEven, overflow), 7U);
    }
  }
  EXPECT_EQ(Saturating(spec::kE2M1, 0.0F), 0U);
  EXPECT_EQ(Saturating(spec::kE2M1, -0.0F), 8U);
  EXPECT_EQ(Saturating(spec::kE2M1, -0.1F), 8U);
}

TEST(Encode, E4M3FnOverflow) {
  const auto encode = [](float x, Overflow overflow) {
    return Encode(spec::kE4M3Fn, x, Rounding::kNearestEven, overflow);
  };
  for (const float x : {448.0F, 449.0F, 464.0F}) {  // 464 is the tie with 480, and 448 is even
    EXPECT_EQ(encode(x, Overflow::kSaturate), 0x7EU);
    EXPECT_EQ(encode(x, Overflow::kToNan), 0x7EU);
  }
  for (const float x : {0x1.D00002p8F, 465.0F, 480.0F, 1e9F, kInf}) {
    EXPECT_EQ(encode(x, Overflow::kSaturate), 0x7EU);
    EXPECT_EQ(encode(-x, Overflow::kSaturate), 0xFEU);
    EXPECT_EQ(encode(x, Overflow::kToNan), 0x7FU);
    EXPECT_EQ(encode(-x, Overflow::kToNan), 0x7FU);
    EXPECT_EQ(encode(x, Overflow::kToInfinity), 0x7FU);  // there is none
  }
  for (const std::uint32_t nan : kNans) EXPECT_EQ(encode(FromBits(nan), Overflow::kSaturate), 0x7FU);
}

TEST(Encode, E4M3FnOverflowDependsOnTheRounding) {
  const auto to_nan = [](float x, Rounding rounding) { return Encode(spec::kE4M3Fn, x, rounding, Overflow::kToNan); };
  EXPECT_EQ(to_nan(464.0F, Rounding::kTiesAway), 0x7FU);
  EXPECT_EQ(to_nan(464.0F, Rounding::kTiesToZero), 0x7EU);
  EXPECT_EQ(to_nan(479.0F, Rounding::kTowardZero), 0x7EU);
  EXPECT_EQ(to_nan(480.0F, Rounding::kTowardZero), 0x7FU);
  EXPECT_EQ(to_nan(0x1.C00002p8F, Rounding::kAwayFromZero), 0x7FU);
  EXPECT_EQ(to_nan(448.0F, Rounding::kAwayFromZero), 0x7EU);
}

TEST(Encode, E4M3FnTiesCarriesAndSubnormals) {
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 4.25F), 0x48U);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 4.75F), 0x4AU);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 4.25F, Rounding::kTiesAway), 0x49U);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 4.75F, Rounding::kTiesAway), 0x4AU);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 126.2386F), 0x70U);    // carries into 128
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 1.97F), 0x40U);        // carries into 2
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 7.5F * 0x1p-9F), 8U);  // the subnormals' tie with the first normal
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 6.5F * 0x1p-9F), 6U);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 0x1p-10F), 0U);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, -0x1p-10F), 0x80U);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 0x1p-10F, Rounding::kTiesAway), 1U);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 0x1p-149F), 0U);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, 0x1p-149F, Rounding::kAwayFromZero), 1U);
  EXPECT_EQ(Saturating(spec::kE4M3Fn, -0x1p-149F, Rounding::kAwayFromZero), 0x81U);
}

TEST(Encode, E4M3FnuzHasNoNegativeZero) {
  for (const float x : {-0.0F, -0x1p-149F, -0x1p-30F, -0x1p-11F}) EXPECT_EQ(Saturating(spec::kE4M3Fnuz, x), 0U) << x;
  EXPECT_EQ(Saturating(spec::kE4M3Fnuz, -0x1.000002p-11F), 0x81U);
  EXPECT_EQ(Saturating(spec::kE4M3Fnuz, 1.0F), 0x40U);
  EXPECT_EQ(Saturating(spec::kE4M3Fnuz, 1000.0F), 0x7FU);
  EXPECT_EQ(Saturating(spec::kE4M3Fnuz, -kInf), 0xFFU);
  EXPECT_EQ(Encode(spec::kE4M3Fnuz, 247.0F, Rounding::kNearestEven, Overflow::kToNan), 0x7FU);
  EXPECT_EQ(Encode(spec::kE4M3Fnuz, 248.0F, Rounding::kNearestEven, Overflow::kToNan), 0x80U);  // tie with even 256
  for (const std::uint32_t nan : kNans) EXPECT_EQ(Saturating(spec::kE4M3Fnuz, FromBits(nan)), 0x80U);
}

TEST(Encode, Ue8m0) {
  for (int e = -127; e <= 127; ++e) {
    const float power = e == -127 ? 0x1p-127F : FromBits(static_cast<std::uint32_t>(e + 127) << 23);
    const auto code = static_cast<std::uint32_t>(e + 127);
    const float between = power * 1.25F;
    ASSERT_EQ(Saturating(spec::kUe8m0, power), code);
    ASSERT_EQ(Saturating(spec::kUe8m0, -power), code);  // no sign: the magnitude
    ASSERT_EQ(Saturating(spec::kUe8m0, between), code);
    ASSERT_EQ(Saturating(spec::kUe8m0, between, Rounding::kTowardZero), code);
    ASSERT_EQ(Saturating(spec::kUe8m0, between, Rounding::kAwayFromZero), e == 127 ? 254 : code + 1);
  }
  EXPECT_EQ(Saturating(spec::kUe8m0, 1.5F), 128U);  // between 127 and 128
  EXPECT_EQ(Saturating(spec::kUe8m0, 3.0F), 128U);  // between 128 and 129
  EXPECT_EQ(Saturating(spec::kUe8m0, 3.0F, Rounding::kTiesAway), 129U);
  EXPECT_EQ(Saturating(spec::kUe8m0, 1.5F, Rounding::kTiesToZero), 127U);
  EXPECT_EQ(Saturating(spec::kUe8m0, 0.0F), 0U);
  EXPECT_EQ(Saturating(spec::kUe8m0, 0x1p-149F, Rounding::kAwayFromZero), 0U);
  EXPECT_EQ(Saturating(spec::kUe8m0, kInf), 254U);
  EXPECT_EQ(Encode(spec::kUe8m0, kInf, Rounding::kNearestEven, Overflow::kToNan), 255U);
  EXPECT_EQ(Encode(spec::kUe8m0, 0x1.8p127F, Rounding::kNearestEven, Overflow::kToNan), 254U);  // 255 is odd
  EXPECT_EQ(Encode(spec::kUe8m0, 0x1.8p127F, Rounding::kTiesAway, Overflow::kToNan), 255U);
  for (const std::uint32_t nan : kNans) EXPECT_EQ(Saturating(spec::kUe8m0, FromBits(nan)), 255U);
}

TEST(Encode, Bf16Overflow) {
  const float last = 0x1.FEFFFEp127F;  // one ulp below the tie of the largest value with 2^128
  const float tie = 0x1.FFp127F;
  EXPECT_EQ(Encode(spec::kBf16, last, Rounding::kNearestEven, Overflow::kToInfinity), 0x7F7FU);
  EXPECT_EQ(Encode(spec::kBf16, tie, Rounding::kNearestEven, Overflow::kToInfinity), 0x7F80U);
  EXPECT_EQ(Encode(spec::kBf16, -tie, Rounding::kNearestEven, Overflow::kToInfinity), 0xFF80U);
  EXPECT_EQ(Encode(spec::kBf16, tie, Rounding::kTiesToZero, Overflow::kToInfinity), 0x7F7FU);
  EXPECT_EQ(Encode(spec::kBf16, tie, Rounding::kNearestEven, Overflow::kSaturate), 0x7F7FU);
  EXPECT_EQ(Encode(spec::kBf16, tie, Rounding::kNearestEven, Overflow::kToNan), 0x7FFFU);
  EXPECT_EQ(Encode(spec::kBf16, kInf, Rounding::kNearestEven, Overflow::kSaturate), 0x7F7FU);
  EXPECT_EQ(Encode(spec::kBf16, -kInf, Rounding::kNearestEven, Overflow::kToInfinity), 0xFF80U);
}

TEST(Encode, Bf16Nans) {
  for (const std::uint32_t nan : kNans) {
    EXPECT_EQ(Encode(spec::kBf16, FromBits(nan), Rounding::kNearestEven, Overflow::kToInfinity), 0x7FFFU);
    EXPECT_EQ(RoundToBf16(FromBits(nan)), 0x7FFFU);
  }
}

TEST(Encode, Fp32IsItself) {
  for (std::uint64_t b = 0; b < 1ULL << 32; b += 65521) {
    const auto bits = static_cast<std::uint32_t>(b);
    const std::uint32_t expected = (bits & 0x7FFFFFFFU) > 0x7F800000U ? 0x7FFFFFFFU : bits;
    ASSERT_EQ(Encode(spec::kFp32, FromBits(bits), Rounding::kNearestEven, Overflow::kToInfinity), expected);
  }
  for (const std::uint32_t bits : {0x1U, 0x7FFFFFU, 0x800000U, 0x7F7FFFFFU, 0xFF7FFFFFU, 0x80000000U}) {
    EXPECT_EQ(Saturating(spec::kFp32, FromBits(bits)), bits);
  }
}

// A format that has no row: IEEE binary16, through which some kernels convert.
TEST(Encode, AnyRow) {
  constexpr spec::Format kFp16{"fp16", 16, 5, 10, 15, true, true, true, spec::NanCode::kIeee, 0x7FFF};
  EXPECT_EQ(Saturating(kFp16, 1.0F), 0x3C00U);
  EXPECT_EQ(Saturating(kFp16, 65504.0F), 0x7BFFU);
  EXPECT_EQ(Encode(kFp16, 65520.0F, Rounding::kNearestEven, Overflow::kToInfinity), 0x7C00U);
  EXPECT_EQ(Encode(kFp16, 65519.0F, Rounding::kNearestEven, Overflow::kToInfinity), 0x7BFFU);
  EXPECT_EQ(Saturating(kFp16, 0x1p-24F), 1U);
  EXPECT_EQ(Saturating(kFp16, 0x1.002p0F), 0x3C00U);
  EXPECT_EQ(Saturating(kFp16, 0x1.006p0F), 0x3C02U);
}

}  // namespace
}  // namespace kvexact::format_tests
