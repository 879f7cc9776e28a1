// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/host/fp4.h"

#include <algorithm>
#include <cmath>

#include "harness/backend/host/round_even.h"

namespace kvexact::host {
namespace {

// Steps are 0.5 up to 2, 1 up to 4, 2 up to 6. Even steps have even codes, so that a tie goes to
// the even step.
int EncodeMagnitude(float a) {
  if (a < 2.0F) return static_cast<int>(RoundEven(a * 2.0F));
  if (a < 4.0F) return static_cast<int>(RoundEven(a)) + 2;
  return static_cast<int>(RoundEven(a * 0.5F)) + 4;
}

}  // namespace

std::uint8_t EncodeE2M1(float x) {
  if (std::isnan(x)) return 0x7;
  const int magnitude = EncodeMagnitude(std::min(std::fabs(x), 6.0F));
  return static_cast<std::uint8_t>(std::signbit(x) ? magnitude | 0x8 : magnitude);
}

std::uint8_t PackE2M1(float first, float second) {
  return static_cast<std::uint8_t>(EncodeE2M1(first) | EncodeE2M1(second) << 4);
}

}  // namespace kvexact::host
