// SPDX-License-Identifier: Apache-2.0
// One value under the enclosing arithmetic.
#pragma once

#include <cstdint>

namespace kvexact {

// What a value may be; a set of classes. kFinite goes with an interval.
enum ValueClass : std::uint8_t {
  kFinite = 1,
  kZero = 2,  // +-0 besides the interval: the reciprocal of an overflowed norm
  kPosInf = 4,
  kNegInf = 8,
  kNan = 16,
};

struct EnclosedValue {
  double mid = 0;
  double rad = 0;
  std::uint8_t classes = kFinite;
};

// The fp32 values of an enclosed value: [lo, hi], both fp32 numbers, valid where classes has kFinite.
struct Fp32Interval {
  float lo;
  float hi;
  std::uint8_t classes;
};

}  // namespace kvexact
