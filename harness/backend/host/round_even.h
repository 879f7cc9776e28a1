// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kvexact::host {

// x to the nearest integer, ties to even, for 0 <= x < 2^22: adding 1.5 * 2^23 leaves no fraction bits.
inline float RoundEven(float x) {
  constexpr float kNoFraction = 12582912.0F;
  return (x + kNoFraction) - kNoFraction;
}

}  // namespace kvexact::host
