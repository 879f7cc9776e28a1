// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/host/fp8.h"

#include <algorithm>
#include <cmath>

#include "harness/backend/host/round_even.h"

namespace kvexact::host {
namespace {

// Code without its sign of 0 <= a <= the format's largest value. The smallest normal value is
// 2^min_exponent; below it, and in the first binade, codes count steps of 2^(min_exponent - 3).
std::uint8_t EncodeMagnitude(float a, int min_exponent) {
  const int binade = a < std::ldexp(1.0F, min_exponent) ? min_exponent : std::ilogb(a);
  const float steps = RoundEven(std::ldexp(a, 3 - binade));  // 8..16 in a normal binade
  return static_cast<std::uint8_t>((binade - min_exponent) * 8 + static_cast<int>(steps));
}

}  // namespace

std::uint8_t EncodeE4M3Fn(float x) {
  if (std::isnan(x)) return 0x7F;
  const std::uint8_t magnitude = EncodeMagnitude(std::min(std::fabs(x), 448.0F), -6);
  return std::signbit(x) ? magnitude | 0x80 : magnitude;
}

std::uint8_t EncodeE4M3Fnuz(float x) {
  if (std::isnan(x)) return 0x80;
  const std::uint8_t magnitude = EncodeMagnitude(std::min(std::fabs(x), 240.0F), -7);
  return std::signbit(x) && magnitude != 0 ? magnitude | 0x80 : magnitude;
}

std::uint8_t EncodeClampedE4M3Fn(float x) {
  const float below = x < 448.0F ? x : 448.0F;
  return EncodeE4M3Fn(below > -448.0F ? below : -448.0F);
}

}  // namespace kvexact::host
