// SPDX-License-Identifier: Apache-2.0
#include "reference/formats/decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "property_tests/formats/mpfr_oracle.h"
#include "reference/formats/encode.h"

namespace kvexact::format_tests {
namespace {

constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kTiesAway, Rounding::kTiesToZero,
                                   Rounding::kTiesUp,      Rounding::kTiesDown, Rounding::kTowardZero,
                                   Rounding::kAwayFromZero};
constexpr Overflow kOverflows[] = {Overflow::kSaturate, Overflow::kToNan, Overflow::kToInfinity};

std::uint32_t BitsOf(float x) { return std::bit_cast<std::uint32_t>(x); }

TEST(Decode, EveryE2M1CodeByHand) {
  constexpr float kValues[16] = {0,     0.5,  1,  1.5,  2,  3,  4,  6,  //
                                 -0.0F, -0.5, -1, -1.5, -2, -3, -4, -6};
  for (std::uint32_t code = 0; code < 16; ++code) EXPECT_EQ(BitsOf(Decode(spec::kE2M1, code)), BitsOf(kValues[code]));
}

TEST(Decode, E4M3FnByHand) {
  EXPECT_EQ(BitsOf(Decode(spec::kE4M3Fn, 0x00)), BitsOf(0.0F));
  EXPECT_EQ(BitsOf(Decode(spec::kE4M3Fn, 0x80)), BitsOf(-0.0F));
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0x01), 0x1p-9F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0x07), 7 * 0x1p-9F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0x08), 0x1p-6F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0x38), 1.0F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0xBC), -1.5F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0x48), 4.0F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0x77), 240.0F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0x78), 256.0F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0x7E), 448.0F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0xFE), -448.0F);
  EXPECT_TRUE(std::isnan(Decode(spec::kE4M3Fn, 0x7F)));
  EXPECT_TRUE(std::isnan(Decode(spec::kE4M3Fn, 0xFF)));
}

TEST(Decode, E4M3FnuzByHand) {
  EXPECT_EQ(BitsOf(Decode(spec::kE4M3Fnuz, 0x00)), BitsOf(0.0F));
  EXPECT_TRUE(std::isnan(Decode(spec::kE4M3Fnuz, 0x80)));
  EXPECT_EQ(Decode(spec::kE4M3Fnuz, 0x01), 0x1p-10F);
  EXPECT_EQ(Decode(spec::kE4M3Fnuz, 0x08), 0x1p-7F);
  EXPECT_EQ(Decode(spec::kE4M3Fnuz, 0x40), 1.0F);
  EXPECT_EQ(Decode(spec::kE4M3Fnuz, 0x7F), 240.0F);
  EXPECT_EQ(Decode(spec::kE4M3Fnuz, 0xFF), -240.0F);
}

TEST(Decode, Ue8m0IsAPowerOfTwo) {
  for (std::uint32_t code = 0; code < 255; ++code) {
    EXPECT_EQ(Decode(spec::kUe8m0, code), std::ldexp(1.0F, static_cast<int>(code) - 127));
  }
  EXPECT_TRUE(std::isnan(Decode(spec::kUe8m0, 255)));
}

TEST(Decode, Bf16IsTheUpperHalfOfFp32) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const std::uint32_t expected = (code & 0x7FFF) > 0x7F80 ? 0x7FFFFFFFU : code << 16;
    ASSERT_EQ(BitsOf(Decode(spec::kBf16, code)), expected);
  }
}

TEST(Decode, Fp32IsItself) {
  for (std::uint64_t bits = 0; bits < 1ULL << 32; bits += 65521) {
    const auto code = static_cast<std::uint32_t>(bits);
    const std::uint32_t expected = IsNanCode(spec::kFp32, code) ? 0x7FFFFFFFU : code;
    ASSERT_EQ(BitsOf(Decode(spec::kFp32, code)), expected);
  }
  for (const std::uint32_t code : {0U, 1U, 0x7FFFFFU, 0x800000U, 0x7F7FFFFFU, 0x7F800000U, 0x80000000U, 0xFF800000U}) {
    EXPECT_EQ(BitsOf(Decode(spec::kFp32, code)), code);
  }
}

TEST(Decode, IgnoresBitsAboveTheFormat) {
  EXPECT_EQ(Decode(spec::kE2M1, 0xF7), 6.0F);
  EXPECT_EQ(Decode(spec::kE4M3Fn, 0xFFFFFF38U), 1.0F);
}

// The oracle builds the values by repeated addition of the format's step.
TEST(Decode, EqualsTheListOfValuesOfTheOracle) {
  const struct {
    const spec::Format& format;
    const OracleFormat& oracle;
    std::size_t finite;
  } kRows[] = {{spec::kE4M3Fn, kOracleE4M3Fn, 127},
               {spec::kE4M3Fnuz, kOracleE4M3Fnuz, 128},
               {spec::kE2M1, kOracleE2M1, 8},
               {spec::kUe8m0, kOracleUe8m0, 255},
               {spec::kBf16, kOracleBf16, 0x7F80}};
  for (const auto& row : kRows) {
    const MpfrOracle oracle(row.oracle);
    ASSERT_EQ(oracle.finite_codes(), row.finite) << row.format.name;
    ASSERT_EQ(MaxFiniteCode(row.format) + 1, row.finite) << row.format.name;
    for (std::uint32_t code = 0; code < row.finite; ++code) {
      ASSERT_EQ(static_cast<double>(Decode(row.format, code)), oracle.Value(code)) << row.format.name << ' ' << code;
      if (row.format.is_signed && code != 0) {
        ASSERT_EQ(static_cast<double>(Decode(row.format, code | SignMask(row.format))), -oracle.Value(code));
      }
    }
  }
}

TEST(Decode, EveryCodeReencodesToItselfUnderEveryRule) {
  for (const spec::Format* format : spec::kFormats) {
    if (format->bits > 16) continue;
    const bool every_rule = format->bits <= 8;
    for (std::uint32_t code = 0; code < 1U << format->bits; ++code) {
      const float value = Decode(*format, code);
      for (const Rounding rounding : kRoundings) {
        for (const Overflow overflow : kOverflows) {
          if (!every_rule && overflow != Overflow::kToInfinity) continue;  // an infinity stays one under this rule only
          const std::uint32_t expected = IsNanCode(*format, code) ? format->canonical_nan : code;
          ASSERT_EQ(Encode(*format, value, rounding, overflow), expected) << format->name << " code " << code;
        }
      }
    }
  }
}

TEST(Decode, NanCodes) {
  const auto count = [](const spec::Format& format) {
    int nans = 0;
    for (std::uint32_t code = 0; code < 1U << format.bits; ++code) nans += std::isnan(Decode(format, code)) ? 1 : 0;
    return nans;
  };
  EXPECT_EQ(count(spec::kE4M3Fn), 2);
  EXPECT_EQ(count(spec::kE4M3Fnuz), 1);
  EXPECT_EQ(count(spec::kE2M1), 0);
  EXPECT_EQ(count(spec::kUe8m0), 1);
  EXPECT_EQ(count(spec::kBf16), 2 * 127);
}

TEST(Decode, CanonicalNanIsANan) {
  for (const spec::Format* format : spec::kFormats) {
    if (format->nan == spec::NanCode::kNone) continue;
    EXPECT_TRUE(IsNanCode(*format, format->canonical_nan)) << format->name;
    EXPECT_TRUE(std::isnan(Decode(*format, format->canonical_nan))) << format->name;
  }
}

}  // namespace
}  // namespace kvexact::format_tests
