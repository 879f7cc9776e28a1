// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/stored.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "property_tests/oracle/random.h"

namespace kvexact::oracle {
namespace {

// Values of the positive finite codes, written down from the formats' definitions.
std::vector<double> PositiveCodes(BlockCode code) {
  const bool e2m1 = code == BlockCode::kE2M1;
  const int mantissa_bits = e2m1 ? 1 : 3;
  const int bias = e2m1 ? 1 : code == BlockCode::kQE4M3Fnuz ? 8 : 7;
  const int count = e2m1 ? 8 : code == BlockCode::kQE4M3Fnuz ? 128 : 127;
  std::vector<double> values;
  for (int c = 0; c < count; ++c) {
    const int field = c >> mantissa_bits;
    const int mantissa = c & ((1 << mantissa_bits) - 1);
    const double scaled = field == 0 ? mantissa : mantissa + (1 << mantissa_bits);
    values.push_back(std::ldexp(scaled, (field == 0 ? 1 : field) - bias - mantissa_bits));
  }
  return values;
}

double ValueOf(std::uint16_t bf16) { return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16); }

constexpr BlockCode kCodes[] = {BlockCode::kCompressE4M3, BlockCode::kQE4M3, BlockCode::kQE4M3Fnuz, BlockCode::kE2M1};

TEST(Stored, EveryFiniteBf16TakesTheNearestCode) {
  for (const BlockCode code : kCodes) {
    const std::vector<double> values = PositiveCodes(code);
    const int sign_shift = code == BlockCode::kE2M1 ? 3 : 7;
    // The largest value of the block fixes its exponent; the second element runs through all bf16 below it.
    for (const std::uint16_t top : {std::uint16_t{0x43E0}, std::uint16_t{0x3F80}, std::uint16_t{0x0080}}) {
      for (std::uint32_t bits = 0; bits <= top; ++bits) {
        const auto x = static_cast<std::uint16_t>(bits);
        const std::uint16_t block[] = {top, x, static_cast<std::uint16_t>(x | 0x8000U)};
        const StoredBlock stored = QuantiseBlock(block, code);
        const double scaled = std::ldexp(ValueOf(x), -stored.exponent);
        const std::uint8_t got = stored.codes[1];
        const auto distance = [&](std::size_t c) { return std::fabs(values[c] - scaled); };
        ASSERT_LT(got, values.size());
        if (got > 0) {
          ASSERT_TRUE(distance(got) < distance(got - 1U) || (distance(got) == distance(got - 1U) && got % 2 == 0))
              << bits;
        }
        if (got + 1U < values.size()) {
          ASSERT_TRUE(distance(got) < distance(got + 1U) || (distance(got) == distance(got + 1U) && got % 2 == 0))
              << bits;
        }
        const bool unsigned_zero = code == BlockCode::kQE4M3Fnuz && got == 0;
        ASSERT_EQ(stored.codes[2], unsigned_zero ? 0 : got | 1U << sign_shift) << bits;
      }
    }
  }
}

TEST(Stored, TheExponentIsTheLeastThatHoldsTheMaximum) {
  for (const BlockCode code : kCodes) {
    const double most = PositiveCodes(code).back() < 10 ? 6 : code == BlockCode::kQE4M3Fnuz ? 224 : 448;
    const double floor = code == BlockCode::kE2M1 ? 6 * 0x1p-126 : static_cast<double>(1e-4F);
    for (std::uint32_t bits = 0; bits < 0x7F80; ++bits) {
      const std::uint16_t block[] = {static_cast<std::uint16_t>(bits | 0x8000U), 0};
      const int e = QuantiseBlock(block, code).exponent;
      const double amax = std::max(ValueOf(static_cast<std::uint16_t>(bits)), floor);
      ASSERT_LE(amax, std::ldexp(most, e)) << bits;
      ASSERT_GT(amax, std::ldexp(most, e - 1)) << bits;
    }
  }
}

TEST(Stored, NonFiniteElements) {
  const std::uint16_t nan_block[] = {0x7FC0, 0x3F80, 0xBF80};
  EXPECT_EQ(QuantiseBlock(nan_block, BlockCode::kCompressE4M3).codes, (std::vector<std::uint8_t>{0x7E, 0x78, 0xF8}));
  EXPECT_EQ(QuantiseBlock(nan_block, BlockCode::kQE4M3).codes, (std::vector<std::uint8_t>{0x7F, 0x78, 0xF8}));
  EXPECT_EQ(QuantiseBlock(nan_block, BlockCode::kQE4M3Fnuz).codes, (std::vector<std::uint8_t>{0x80, 0x78, 0xF8}));
  EXPECT_EQ(QuantiseBlock(nan_block, BlockCode::kE2M1).codes, (std::vector<std::uint8_t>{0x7, 0x6, 0xE}));
  const std::uint16_t inf_block[] = {0xFF80, 0x3F80, 0xBF80};
  const StoredBlock fp8 = QuantiseBlock(inf_block, BlockCode::kQE4M3);
  EXPECT_EQ(fp8.exponent, kInfiniteExponent);
  EXPECT_EQ(fp8.codes, (std::vector<std::uint8_t>{0x7F, 0x00, 0x80}));
  const StoredBlock fp4 = QuantiseBlock(inf_block, BlockCode::kE2M1);
  EXPECT_EQ(Ue8m0Of(fp4.exponent), 0xFE);
  EXPECT_EQ(fp4.codes, (std::vector<std::uint8_t>{0xF, 0x0, 0x8}));
  const std::uint16_t all_nan[] = {0x7FFF};
  EXPECT_EQ(Ue8m0Of(QuantiseBlock(all_nan, BlockCode::kCompressE4M3).exponent), 0x69);
  EXPECT_EQ(Ue8m0Of(QuantiseBlock(all_nan, BlockCode::kE2M1).exponent), 0x01);
}

TEST(Stored, RoundingAWideValueAgreesWithRoundingTheFloat) {
  Random random(3);
  for (int i = 0; i < 200000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random.Bits()));
    const Wide wide(static_cast<double>(x));
    ASSERT_EQ(Bf16Of(wide), Bf16Of(x)) << x;
    const float back = Fp32Of(wide);
    ASSERT_TRUE(std::isnan(x) ? std::isnan(back)
                              : std::bit_cast<std::uint32_t>(back) == std::bit_cast<std::uint32_t>(x));
  }
}

TEST(Stored, WideRoundsOnceToNearestEven) {
  const Wide tiny = Scale(Wide(1.0), -250);
  EXPECT_EQ(Bf16Of(Wide(1.0) + Scale(Wide(1.0), -8)), 0x3F80);
  EXPECT_EQ(Bf16Of(Wide(1.0) + Scale(Wide(1.0), -8) + tiny), 0x3F81);
  EXPECT_EQ(Bf16Of(Scale(Wide(1.0), -134)), 0x0000);
  EXPECT_EQ(Bf16Of(Scale(Wide(1.0), -134) + tiny), 0x0001);
  EXPECT_EQ(Bf16Of(Scale(Wide(511.0), 119)), 0x7F80);
  EXPECT_EQ(Bf16Of(-Scale(Wide(1.0), -300)), 0x8000);
  EXPECT_EQ(Fp32Of(Wide(1.0) + Scale(Wide(1.0), -24)), 1.0F);
  EXPECT_EQ(Fp32Of(Wide(1.0) + Scale(Wide(1.0), -24) + tiny), 1.0F + 0x1p-23F);
  EXPECT_EQ(Fp32Of(Scale(Wide(1.0), -150) + tiny), 0x1p-149F);
  EXPECT_EQ(Fp32Of(Scale(Wide(1.0), 128) - Scale(Wide(1.0), 103)), HUGE_VALF);
}

}  // namespace
}  // namespace kvexact::oracle
