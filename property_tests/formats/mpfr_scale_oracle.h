// SPDX-License-Identifier: Apache-2.0
// Scale exponents from logarithms and quotients in MPFR; shares only the names of the rules with
// reference/formats.
#pragma once

#include <mpfr.h>

#include "reference/formats/scale_exponent.h"

namespace kvexact::format_tests {

class MpfrScaleOracle {
 public:
  // `largest` is F; `mantissa_bits` those of the element format.
  MpfrScaleOracle(double largest, int mantissa_bits);
  ~MpfrScaleOracle();
  MpfrScaleOracle(const MpfrScaleOracle&) = delete;
  MpfrScaleOracle& operator=(const MpfrScaleOracle&) = delete;

  // `amax` is positive and finite.
  int Exponent(float amax, ScaleRounding rounding);

 private:
  int mantissa_bits_;
  int floor_log2_largest_;
  mpfr_t largest_;
  mpfr_t twice_largest_squared_;
  mpfr_t amax_;
  mpfr_t result_;
};

}  // namespace kvexact::format_tests
