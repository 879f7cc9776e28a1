// SPDX-License-Identifier: Apache-2.0
// The host port's own conversions. Rounding is monotone, so trying every code, every midpoint between neighbours and
// the floats beside it decides them all.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "harness/backend/host/bf16.h"
#include "harness/backend/host/fp4.h"
#include "harness/backend/host/fp8.h"

namespace kvexact::host {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Value of an E4M3 magnitude code, from the definition.
float E4M3Value(int code, int bias) {
  const int exponent = code >> 3;
  const int mantissa = code & 7;
  return exponent == 0 ? std::ldexp(static_cast<float>(mantissa), 1 - bias - 3)
                       : std::ldexp(static_cast<float>(8 + mantissa), exponent - bias - 3);
}

using Encoder = std::uint8_t (*)(float);

// values[code], ascending. `sign` is the sign bit of a code; negative zero encodes as `negative_zero`.
void ExpectNearestEven(const std::vector<float>& values, Encoder encode, int sign, int negative_zero) {
  const auto expect = [&](float x, int code) {
    EXPECT_EQ(encode(x), code) << x;
    EXPECT_EQ(encode(-x), code == 0 ? negative_zero : code | sign) << -x;
  };
  for (int code = 0; code < static_cast<int>(values.size()); ++code)
    expect(values[static_cast<std::size_t>(code)], code);
  for (int code = 0; code + 1 < static_cast<int>(values.size()); ++code) {
    const auto i = static_cast<std::size_t>(code);
    const float midpoint = 0.5F * (values[i] + values[i + 1]);
    expect(midpoint, code % 2 == 0 ? code : code + 1);
    expect(std::nextafter(midpoint, 0.0F), code);
    expect(std::nextafter(midpoint, kInfinity), code + 1);
  }
  const int largest = static_cast<int>(values.size()) - 1;
  for (const float beyond : {values.back() * 1.03F, values.back() * 2.0F, kInfinity}) expect(beyond, largest);
  expect(std::numeric_limits<float>::denorm_min(), 0);
}

TEST(HostFormats, E4M3FnIsNearestEvenAndSaturates) {
  std::vector<float> values;
  for (int code = 0; code <= 0x7E; ++code) values.push_back(E4M3Value(code, 7));
  ASSERT_EQ(values.back(), 448.0F);
  ExpectNearestEven(values, EncodeE4M3Fn, 0x80, 0x80);
  EXPECT_EQ(EncodeE4M3Fn(kNan), 0x7F);
  EXPECT_EQ(EncodeE4M3Fn(-kNan), 0x7F);
}

TEST(HostFormats, E4M3FnuzHasOneZeroAndSaturates) {
  std::vector<float> values;
  for (int code = 0; code <= 0x7F; ++code) values.push_back(E4M3Value(code, 8));
  ASSERT_EQ(values.back(), 240.0F);
  ExpectNearestEven(values, EncodeE4M3Fnuz, 0x80, 0x00);
  EXPECT_EQ(EncodeE4M3Fnuz(kNan), 0x80);
}

TEST(HostFormats, ClampedE4M3FnTurnsNanIntoTheLargestCode) {
  EXPECT_EQ(EncodeClampedE4M3Fn(kNan), 0x7E);
  EXPECT_EQ(EncodeClampedE4M3Fn(kInfinity), 0x7E);
  EXPECT_EQ(EncodeClampedE4M3Fn(-kInfinity), 0xFE);
  EXPECT_EQ(EncodeClampedE4M3Fn(-0.0F), 0x80);
  EXPECT_EQ(EncodeClampedE4M3Fn(-1.0F), 0xB8);
}

TEST(HostFormats, E2M1IsNearestEvenAndSaturates) {
  ExpectNearestEven({0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F}, EncodeE2M1, 0x8, 0x8);
  EXPECT_EQ(EncodeE2M1(kNan), 0x7);
  EXPECT_EQ(PackE2M1(1.0F, 6.0F), 0x72);
}

TEST(HostFormats, Bf16IsNearestEven) {
  for (std::uint32_t code = 0; code < 0x7F80; ++code) {
    const auto low = static_cast<std::uint16_t>(code);
    const auto high = static_cast<std::uint16_t>(code + 1);
    const auto midpoint = std::bit_cast<float>(code << 16 | 0x8000U);
    ASSERT_EQ(ToBf16(FromBf16(low)), low);
    ASSERT_EQ(ToBf16(midpoint), code % 2 == 0 ? low : high);
    ASSERT_EQ(ToBf16(std::nextafter(midpoint, 0.0F)), low);
    ASSERT_EQ(ToBf16(std::nextafter(midpoint, kInfinity)), high);
    ASSERT_EQ(ToBf16(-FromBf16(low)), low | 0x8000);
  }
  EXPECT_EQ(ToBf16(kInfinity), 0x7F80);
  EXPECT_EQ(ToBf16(-kNan), 0x7FFF);
}

}  // namespace
}  // namespace kvexact::host
