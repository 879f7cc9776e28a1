// SPDX-License-Identifier: Apache-2.0
#include "property_tests/formats/mpfr_scale_oracle.h"

#include <cmath>

namespace kvexact::format_tests {
namespace {

constexpr mpfr_prec_t kPrecision = 64;

// x > 0, by MPFR's convention x = m * 2^exp with 1/2 <= m < 1.
int FloorLog2(const mpfr_t x) { return static_cast<int>(mpfr_get_exp(x)) - 1; }

int CeilLog2(const mpfr_t x) {
  const int below = FloorLog2(x);
  return mpfr_cmp_ui_2exp(x, 1, below) == 0 ? below : below + 1;
}

}  // namespace

MpfrScaleOracle::MpfrScaleOracle(double largest, int mantissa_bits)
    : mantissa_bits_(mantissa_bits), floor_log2_largest_(std::ilogb(largest)) {
  mpfr_inits2(kPrecision, largest_, twice_largest_squared_, amax_, result_, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(largest_, largest, MPFR_RNDN);
  mpfr_set_d(twice_largest_squared_, 2 * largest * largest, MPFR_RNDN);
}

MpfrScaleOracle::~MpfrScaleOracle() {
  mpfr_clears(largest_, twice_largest_squared_, amax_, result_, static_cast<mpfr_ptr>(nullptr));
}

int MpfrScaleOracle::Exponent(float amax, ScaleRounding rounding) {
  mpfr_set_flt(amax_, amax, MPFR_RNDN);
  switch (rounding) {
    // A quotient that is rounded away from a power of two lies on the same side of it as the exact one.
    case ScaleRounding::kCeil:
      mpfr_div(result_, amax_, largest_, MPFR_RNDU);
      return CeilLog2(result_);
    case ScaleRounding::kFloor:
      mpfr_div(result_, amax_, largest_, MPFR_RNDD);
      return FloorLog2(result_);
    case ScaleRounding::kNearest: {
      // log2(A / F) + 1/2 = log2(2 A^2 / F^2) / 2, whose floor is that of the integer floor halved.
      mpfr_sqr(result_, amax_, MPFR_RNDN);  // exact: 48 bits
      mpfr_mul_2ui(result_, result_, 2, MPFR_RNDN);
      mpfr_div(result_, result_, twice_largest_squared_, MPFR_RNDD);
      return static_cast<int>(std::floor(FloorLog2(result_) / 2.0));
    }
    case ScaleRounding::kOcpFloor:
      return FloorLog2(amax_) - floor_log2_largest_;
    case ScaleRounding::kOcpCeil:
      return CeilLog2(amax_) - floor_log2_largest_;
    case ScaleRounding::kOcpEven:
      mpfr_set_ui_2exp(result_, 1, FloorLog2(amax_) - mantissa_bits_ - 1, MPFR_RNDN);
      mpfr_add(result_, result_, amax_, MPFR_RNDN);  // exact: 25 bits
      return FloorLog2(result_) - floor_log2_largest_;
  }
  return 0;
}

}  // namespace kvexact::format_tests
