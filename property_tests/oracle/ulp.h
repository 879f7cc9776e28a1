// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>

namespace kvexact::oracle {

// 2^(floor(log2 |x|) - 23) of a finite non-zero x.
inline double UlpOf(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000U) * 0x1p-23;
}

// An fp32 result whose error against `exact` is about k ulp and at most `limit` ulp, |k| <= limit,
// limit >= 1/2. Zeros, infinities and NaN come back as they are. Below 2^-126, where an ulp is finer
// than the grid, the result is exact + k ulp rounded to the grid. Results never become infinite unless
// `exact` itself rounds to infinity. Where `exact` comes out of a double-precision function, its own
// error, some 2^-28 ulp, adds to the limit.
inline float WithUlpError(double exact, double k, double limit) {
  const std::uint64_t field = std::bit_cast<std::uint64_t>(exact) >> 52 & 0x7FFU;
  if (field == 0 || field == 0x7FF) return static_cast<float>(exact);
  const double ulp = UlpOf(exact);
  const double target = exact + k * ulp;
  const float nearest = static_cast<float>(target);
  const double error = static_cast<double>(nearest) - exact;
  if (std::fabs(error) <= limit * ulp || std::fabs(nearest) < FLT_MIN) return nearest;
  if (std::fabs(exact) >= 0x1.ffffffp127) return nearest;
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool grows = (error > 0) != (nearest < 0);  // in magnitude
  return std::bit_cast<float>(grows ? bits - 1 : bits + 1);
}

// x, or a zero of its sign where |x| < threshold (FLT_MIN flushes subnormals, 0 nothing).
inline float Flushed(float x, float threshold) { return std::fabs(x) < threshold ? std::copysign(0.0F, x) : x; }

}  // namespace kvexact::oracle
