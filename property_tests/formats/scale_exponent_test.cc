// SPDX-License-Identifier: Apache-2.0
#include "reference/formats/scale_exponent.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "reference/formats/decode.h"
#include "reference/spec/strict_numerics.h"

namespace kvexact::format_tests {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr ScaleRounding kRules[] = {ScaleRounding::kCeil,     ScaleRounding::kFloor,   ScaleRounding::kNearest,
                                    ScaleRounding::kOcpFloor, ScaleRounding::kOcpCeil, ScaleRounding::kOcpEven};

// F * 2^k exactly, and its two neighbours, for every k that fp32 holds.
TEST(ScaleExponent, StepsBehindEveryExactPower) {
  for (const ScaleDivisor& divisor : {kDivisor448, kDivisor224, kDivisor6}) {
    for (int k = -160; k <= 127; ++k) {
      const double exact = std::ldexp(static_cast<double>(ValueOf(divisor)), k);
      const auto power = static_cast<float>(exact);
      if (power == 0 || !std::isfinite(power) || power != exact) continue;
      ASSERT_EQ(ScaleExponent(power, divisor), k);
      ASSERT_EQ(ScaleExponent(power, divisor, ScaleRounding::kFloor), k);
      ASSERT_EQ(ScaleExponent(power, divisor, ScaleRounding::kNearest), k);
      const float above = std::nextafter(power, kInf);
      const float below = std::nextafter(power, 0.0F);
      if (std::isfinite(above)) {
        ASSERT_EQ(ScaleExponent(above, divisor), k + 1);
      }
      if (below >= 0x1p-126F) {  // subnormals one step apart can lie more than a binade apart
        ASSERT_EQ(ScaleExponent(below, divisor), k);
        ASSERT_EQ(ScaleExponent(below, divisor, ScaleRounding::kFloor), k - 1);
      }
    }
  }
}

TEST(ScaleExponent, OrdinaryValuesByHand) {
  const struct {
    float amax;
    ScaleDivisor divisor;
    int ceil, floor, nearest, ocp_floor, ocp_ceil, ocp_even;
  } kRows[] = {
      {150.0F, kDivisor448, -1, -2, -2, -1, 0, -1},  // 0.334; a port that writes byte 127 means -1 + 1
      {448.0F, kDivisor448, 0, 0, 0, 0, 1, 0},
      {450.0F, kDivisor448, 1, 0, 0, 0, 1, 0},
      {496.0F, kDivisor448, 1, 0, 0, 0, 1, 1},  // 1.9375 * 2^8: half a step below 512
      {495.0F, kDivisor448, 1, 0, 0, 0, 1, 0},
      {633.0F, kDivisor448, 1, 0, 0, 1, 2, 1},  // sqrt(2) * 448 = 633.57
      {634.0F, kDivisor448, 1, 0, 1, 1, 2, 1},
      {890.0F, kDivisor448, 1, 0, 1, 1, 2, 1},
      {256.0F, kDivisor448, 0, -1, -1, 0, 0, 0},
      {200.0F, kDivisor224, 0, -1, 0, 0, 1, 0},
      {6.0F, kDivisor6, 0, 0, 0, 0, 1, 0},
      {7.0F, kDivisor6, 1, 0, 0, 0, 1, 1},  // 1.75 * 4: half a step below 8
      {6.9F, kDivisor6, 1, 0, 0, 0, 1, 0},
      {4.0F, kDivisor6, 0, -1, -1, 0, 0, 0},
      {4.3F, kDivisor6, 0, -1, 0, 0, 1, 0},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(ScaleExponent(row.amax, row.divisor), row.ceil) << row.amax;
    EXPECT_EQ(ScaleExponent(row.amax, row.divisor, ScaleRounding::kFloor), row.floor) << row.amax;
    EXPECT_EQ(ScaleExponent(row.amax, row.divisor, ScaleRounding::kNearest), row.nearest) << row.amax;
    EXPECT_EQ(ScaleExponent(row.amax, row.divisor, ScaleRounding::kOcpFloor), row.ocp_floor) << row.amax;
    EXPECT_EQ(ScaleExponent(row.amax, row.divisor, ScaleRounding::kOcpCeil), row.ocp_ceil) << row.amax;
    EXPECT_EQ(ScaleExponent(row.amax, row.divisor, ScaleRounding::kOcpEven), row.ocp_even) << row.amax;
  }
}

// Half a binade is sqrt(2) = 0x1.6A09E667...; F = 1 rounds up within a binade of A, F = 1.75 behind its end.
TEST(ScaleExponent, NearestTurnsAtTheSquareRootOfTwo) {
  constexpr ScaleDivisor kOne{0, 0, 3};
  EXPECT_EQ(ScaleExponent(0x1.6A09E6p0F, kOne, ScaleRounding::kNearest), 0);
  EXPECT_EQ(ScaleExponent(0x1.6A09E8p0F, kOne, ScaleRounding::kNearest), 1);
  EXPECT_EQ(ScaleExponent(0x1.6A09E6p-1F, kOne, ScaleRounding::kNearest), -1);
  EXPECT_EQ(ScaleExponent(0x1.6A09E8p-1F, kOne, ScaleRounding::kNearest), 0);
  EXPECT_EQ(ScaleExponent(0x1.3CC8A8p9F, kDivisor448, ScaleRounding::kNearest),
            0);  // 1.75 * sqrt(2) = 0x1.3CC8A99...p1
  EXPECT_EQ(ScaleExponent(0x1.3CC8AAp9F, kDivisor448, ScaleRounding::kNearest), 1);
}

TEST(ScaleExponent, Floors) {
  EXPECT_EQ(ScaleExponent(spec::kFp8AmaxFloor, kDivisor448), -22);
  EXPECT_EQ(ScaleExponent(spec::kFp8AmaxFloor, kDivisor224), -21);
  EXPECT_EQ(ScaleExponent(spec::kMxfp4AmaxFloor, kDivisor6), -126);
}

// Values of bf16 lie at least 2^-8 apart from a power of two, or on it: any log2f decides them alike.
TEST(ScaleExponent, Log2fGivesTheSameForEveryBf16Amax) {
  for (const ScaleDivisor& divisor : {kDivisor448, kDivisor224, kDivisor6}) {
    const float reciprocal = 1.0F / ValueOf(divisor);
    for (std::uint32_t upper = 1; upper < 0x7F80; ++upper) {
      const auto amax = std::bit_cast<float>(upper << 16);
      if (amax < ValueOf(divisor) * 0x1p-126F) continue;  // the ratio would be subnormal
      ASSERT_EQ(static_cast<float>(ScaleExponent(amax, divisor)), std::ceil(std::log2(amax * reciprocal))) << amax;
    }
  }
}

TEST(ScaleExponent, ZeroInfinityAndExtremes) {
  for (const ScaleRounding rule : kRules) {
    for (const ScaleDivisor& divisor : {kDivisor448, kDivisor224, kDivisor6}) {
      EXPECT_EQ(ScaleExponent(kInf, divisor, rule), kInfiniteExponent);
      EXPECT_EQ(ScaleExponent(std::numeric_limits<float>::quiet_NaN(), divisor, rule), kInfiniteExponent);
      EXPECT_EQ(ScaleExponent(0.0F, divisor, rule), kZeroExponent);
      EXPECT_EQ(ScaleExponent(-0.0F, divisor, rule), kZeroExponent);
    }
  }
  constexpr float kMax = std::numeric_limits<float>::max();
  EXPECT_EQ(ScaleExponent(kMax, kDivisor448), 120);  // 448 * 2^119 < 2^128 - 2^104 <= 448 * 2^120
  EXPECT_EQ(ScaleExponent(kMax, kDivisor224), 121);
  EXPECT_EQ(ScaleExponent(kMax, kDivisor6), 126);
  EXPECT_EQ(ScaleExponent(0x1p-149F, kDivisor448), -157);
  EXPECT_EQ(ScaleExponent(0x1p-149F, kDivisor6), -151);
  EXPECT_EQ(ScaleExponent(7 * 0x1p-149F, kDivisor448), -155);  // 7 * 2^-149 = 448 * 2^-155
  EXPECT_EQ(ScaleExponent(3 * 0x1p-149F, kDivisor6), -150);    // 3 * 2^-149 = 6 * 2^-150
}

TEST(PowerOfTwo, EqualsLdexp) {
  for (int e = -300; e <= 300; ++e) ASSERT_EQ(PowerOfTwo(e), std::ldexp(1.0F, e)) << e;
  EXPECT_EQ(PowerOfTwo(kInfiniteExponent), kInf);
  EXPECT_EQ(PowerOfTwo(-kInfiniteExponent), 0.0F);
}

TEST(Ue8m0Byte, ClampsAndDecodes) {
  for (int e = -127; e <= 127; ++e) {
    ASSERT_EQ(Ue8m0Byte(e), e + 127);
    ASSERT_EQ(Ue8m0FiniteByte(e), e + 127);
    ASSERT_EQ(Decode(spec::kUe8m0, Ue8m0Byte(e)), PowerOfTwo(e));
  }
  for (const int e : {128, 129, 1000, kInfiniteExponent}) {
    EXPECT_EQ(Ue8m0Byte(e), 255);
    EXPECT_EQ(Ue8m0FiniteByte(e), 254);
    EXPECT_EQ(Ue8m0Byte(-e), 0);
    EXPECT_EQ(Ue8m0FiniteByte(-e), 0);
  }
}

}  // namespace
}  // namespace kvexact::format_tests
