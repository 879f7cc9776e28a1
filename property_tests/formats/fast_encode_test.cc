// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "reference/formats/bf16.h"
#include "reference/formats/e2m1.h"
#include "reference/formats/e4m3.h"
#include "reference/formats/encode.h"

namespace kvexact::format_tests {
namespace {

// Bit patterns around every decision of the small formats, infinities and NaNs.
std::vector<float> HostileFloats(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto upper = static_cast<std::uint32_t>(i * 2654435761U) >> 13 << 13;  // 2^32 / the golden ratio
    values[i] = std::bit_cast<float>(upper + static_cast<std::uint32_t>(i % 3) - 1);
  }
  return values;
}

std::uint32_t Generic(const spec::Format& format, float x, std::uint32_t nan_code) {
  return x == x ? Encode(format, x, Rounding::kNearestEven, Overflow::kSaturate) : nan_code;
}

// Lengths around every vector width; one element behind the output stays as it was.
class FastArrays : public testing::TestWithParam<std::size_t> {};

TEST_P(FastArrays, E4M3FnEqualsGeneric) {
  const auto values = HostileFloats(GetParam());
  for (const float factor : {1.0F, 0x1p-30F, 0x1p22F, 0.0F}) {
    std::vector<std::uint8_t> codes(values.size() + 1, 0xA5);
    EncodeE4M3Fn(values, factor, 0x7E, codes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(codes[i], Generic(spec::kE4M3Fn, values[i] * factor, 0x7E)) << values[i];
    }
    EXPECT_EQ(codes.back(), 0xA5);
  }
}

TEST_P(FastArrays, E4M3FnuzEqualsGeneric) {
  const auto values = HostileFloats(GetParam());
  for (const float factor : {1.0F, 0x1p-30F, 0x1p22F, 0.0F}) {
    std::vector<std::uint8_t> codes(values.size() + 1, 0xA5);
    EncodeE4M3Fnuz(values, factor, 0x80, codes.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(codes[i], Generic(spec::kE4M3Fnuz, values[i] * factor, 0x80)) << values[i];
    }
    EXPECT_EQ(codes.back(), 0xA5);
  }
}

TEST_P(FastArrays, E2M1EqualsGeneric) {
  const auto values = HostileFloats(2 * GetParam());
  for (const float factor : {1.0F, 0x1p-30F, 0x1p22F, 0.0F}) {
    std::vector<std::uint8_t> packed(GetParam() + 1, 0xA5);
    PackE2M1(values, factor, 7, packed.data());
    for (std::size_t i = 0; i < GetParam(); ++i) {
      ASSERT_EQ(packed[i] & 0xF, static_cast<int>(Generic(spec::kE2M1, values[2 * i] * factor, 7)));
      ASSERT_EQ(packed[i] >> 4, static_cast<int>(Generic(spec::kE2M1, values[2 * i + 1] * factor, 7)));
    }
    EXPECT_EQ(packed.back(), 0xA5);
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, FastArrays,
                         testing::Values(0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 128, 448, 10007));

TEST(FastEncode, NanCodeIsTheCallers) {
  for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0xFFFFFFFFU}) {
    const auto x = std::bit_cast<float>(nan);
    EXPECT_EQ(EncodeE4M3Fn(x, 0x7E), 0x7E);
    EXPECT_EQ(EncodeE4M3Fn(x, 0x7F), 0x7F);
    EXPECT_EQ(EncodeE4M3Fnuz(x, 0x80), 0x80);
    EXPECT_EQ(EncodeE2M1(x, 7), 7);
    EXPECT_EQ(EncodeE2M1(x, 0), 0);
  }
}

TEST(FastEncode, PairsLieLowNibbleFirst) {
  const float pair[] = {1.0F, 6.0F};
  std::uint8_t packed = 0;
  PackE2M1(pair, 1.0F, 7, &packed);
  EXPECT_EQ(packed, 0x72);
  EXPECT_EQ(FirstNibble(packed), 2);
  EXPECT_EQ(SecondNibble(packed), 7);
}

TEST(Bf16, WidenThenRoundIsIdentity) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<std::uint16_t>(code);
    ASSERT_EQ(RoundToBf16(WidenBf16(bits)), (code & 0x7FFF) > 0x7F80 ? 0x7FFF : bits);
  }
}

TEST(Bf16, TiesToEven) {
  for (std::uint32_t code = 0; code < 0x7F80; ++code) {
    const std::uint32_t tie = code << 16 | 0x8000;
    const std::uint32_t even = code + code % 2;
    ASSERT_EQ(RoundToBf16(std::bit_cast<float>(tie)), even);
    ASSERT_EQ(RoundToBf16(std::bit_cast<float>(tie - 1)), code);
    ASSERT_EQ(RoundToBf16(std::bit_cast<float>(tie + 1)), code + 1);
    ASSERT_EQ(RoundToBf16(std::bit_cast<float>(tie | 0x80000000U)), even | 0x8000);
  }
}

}  // namespace
}  // namespace kvexact::format_tests
