// SPDX-License-Identifier: Apache-2.0
// Constants of the strict model (docs/numerics.md). Data only: host and device code include it.
#pragma once

#include <cstdint>

namespace kvexact::spec {

// ---- e^d for d <= 0, scaled by 2^-k, k = WeightShift(rows of the window) ------------------------
//   M = RoundToInteger(k)
//   d = WeightCutoff(k) where d is below it; NaN stays
//   z = fma(d, kLog2E, M)           low mantissa bits: n + 127 - k
//   f = fma(d, kLog2E, -(z - M))    in [-0.5, 0.5]
//   q = Horner over kExp2Polynomial, one fma a step, from the highest coefficient down
//   w = q * float_from_bits(bits(z) << 23)      at the cutoff the factor, and so the weight, is +0
inline constexpr float kLog2E = 0x1.715476p+0F;

// The weights carry a factor 2^-k with 2^k >= rows, so that finite KV rows cannot overflow before the
// division by the weight sum, which carries the same factor. At most 10, where e^-80 is still normal.
inline constexpr int kMaxWeightShift = 10;

constexpr int WeightShift(std::int64_t rows) {
  int shift = 0;
  while (shift < kMaxWeightShift && (std::int64_t{1} << shift) < rows) ++shift;
  return shift;
}

// 1.5 * 2^23 + 127 - k: adding it rounds to an integer and leaves the biased exponent of the weight
// in the low bits.
constexpr float RoundToInteger(int shift) { return static_cast<float>(12582912 + 127 - shift); }

// -(127 - k) ln 2: rounds to the integer whose biased exponent is zero.
constexpr float WeightCutoff(int shift) { return -static_cast<float>(127 - shift) * 0x1.62e430p-1F; }

// 2^f on [-0.5, 0.5], ascending powers; the constant term is exactly one.
inline constexpr int kExp2Degree = 6;
inline constexpr float kExp2Polynomial[kExp2Degree + 1] = {
    1.0F, 0x1.62e430p-1F, 0x1.ebfbdcp-3F, 0x1.c6af7ap-5F, 0x1.3b2ddap-7F, 0x1.5f0976p-10F, 0x1.4172b6p-13F,
};

// ---- reduction trees ---------------------------------------------------------------------------
// Rows of the window: row r belongs to partial r % kRowPartials and is added in ascending order to
// a partial that starts at +0; the partials then fold by halves (j and j+4, j and j+2, j and j+1).
inline constexpr int kRowPartials = 8;

// Head: kHeadRun consecutive columns are one chain of fma; the kHeadGroup / kHeadRun chains of a
// group fold by halves (distance 16, 8, 4, 2, 1); groups then fold as neighbours (0+1, 2+3, ...).
inline constexpr int kHeadRun = 4;
inline constexpr int kHeadGroup = 128;

// Floors on a block's absmax.
inline constexpr float kFp8AmaxFloor = 1e-4F;
inline constexpr float kMxfp4AmaxFloor = 6.0F * 0x1p-126F;

}  // namespace kvexact::spec
