// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harness/backend/host/bf16.h"
#include "harness/backend/host/block_scale.h"

namespace kvexact::host {
namespace {

// The definition: the smallest e with amax <= largest * 2^e. Doubles hold both sides exactly.
void ExpectSmallestExponent(float amax, float largest, float exponent) {
  const auto e = static_cast<int>(exponent);
  ASSERT_LE(amax, std::ldexp(static_cast<double>(largest), e)) << amax << " / " << largest;
  ASSERT_GT(amax, std::ldexp(static_cast<double>(largest), e - 1)) << amax << " / " << largest;
}

TEST(HostBlockScale, ExponentIsExactForEveryBf16Amax) {
  constexpr std::uint32_t kInfinityBits = 0x7F80;
  for (std::uint32_t bits = 1; bits < kInfinityBits; ++bits) {
    const float amax = FromBf16(static_cast<std::uint16_t>(bits));
    for (const float largest : {448.0F, 224.0F, 6.0F}) {
      if (amax < largest * 0x1p-125F) continue;  // below every floor
      ExpectSmallestExponent(amax, largest, CeilLog2(amax * (1.0F / largest)));
      ExpectSmallestExponent(amax, largest, CeilLog2(amax / largest));
    }
  }
}

TEST(HostBlockScale, Floors) {
  EXPECT_EQ(CeilLog2(1e-4F * (1.0F / 448.0F)), -22.0F);
  EXPECT_EQ(CeilLog2(1e-4F / 224.0F), -21.0F);
  EXPECT_EQ(CeilLog2(6.0F * 0x1p-126F * (1.0F / 6.0F)), -126.0F);
}

TEST(HostBlockScale, PowersAreExactAndReachTheLimits) {
  for (int e = -149; e <= 127; ++e) EXPECT_EQ(Pow2(static_cast<float>(e)), std::ldexp(1.0F, e));
  EXPECT_EQ(Pow2(std::numeric_limits<float>::infinity()), std::numeric_limits<float>::infinity());
  EXPECT_EQ(Pow2(-std::numeric_limits<float>::infinity()), 0.0F);
}

TEST(HostBlockScale, Ue8m0Clamps) {
  EXPECT_EQ(Ue8m0(-22.0F), 105);
  EXPECT_EQ(Ue8m0(-200.0F), 0);
  EXPECT_EQ(Ue8m0(std::numeric_limits<float>::infinity()), 255);
}

TEST(HostBlockScale, AbsMaxIgnoresNanAndSign) {
  const float x[] = {1.0F, -3.0F, std::numeric_limits<float>::quiet_NaN(), 2.0F};
  EXPECT_EQ(AbsMax(x, 4, 0.5F), 3.0F);
  EXPECT_EQ(AbsMax(x + 2, 1, 0.5F), 0.5F);
}

}  // namespace
}  // namespace kvexact::host
