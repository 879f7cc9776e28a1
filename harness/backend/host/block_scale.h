// SPDX-License-Identifier: Apache-2.0
// The power-of-two scale of a block.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace kvexact::host {

// Largest magnitude of x[0..n), NaN ignored, at least `floor`.
inline float AbsMax(const float* x, int n, float floor) {
  float largest = floor;
  for (int i = 0; i < n; ++i) {
    const float a = std::fabs(x[i]);
    largest = a > largest ? a : largest;
  }
  return largest;
}

// ceil(log2(ratio)) for a positive ratio; +inf for +inf. log2f is right at the powers of two and
// beside them: the tests try every amax that a bf16 block can have.
inline float CeilLog2(float ratio) { return std::ceil(std::log2(ratio)); }

// 2^exponent for an integer or infinite exponent, without rounding.
inline float Pow2(float exponent) {
  if (std::isinf(exponent)) return exponent > 0 ? std::numeric_limits<float>::infinity() : 0.0F;
  return std::ldexp(1.0F, static_cast<int>(exponent));
}

// UE8M0 byte of 2^exponent, clamped to [0, 255].
inline std::uint8_t Ue8m0(float exponent) {
  const float biased = exponent + 127.0F;
  return static_cast<std::uint8_t>(biased < 0.0F ? 0.0F : biased > 255.0F ? 255.0F : biased);
}

}  // namespace kvexact::host
