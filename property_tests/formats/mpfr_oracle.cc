// SPDX-License-Identifier: Apache-2.0
#include "property_tests/formats/mpfr_oracle.h"

#include <algorithm>

namespace kvexact::format_tests {

const OracleFormat kOracleE4M3Fn{.has_sign = true,
                                 .has_zero = true,
                                 .smallest = 0x1p-9,
                                 .mantissa_bits = 3,
                                 .largest = 448,
                                 .sign_bit = 0x80,
                                 .nan = 0x7F,
                                 .has_nan = true,
                                 .has_infinity = false,
                                 .negative_zero = 0x80};
const OracleFormat kOracleE4M3Fnuz{.has_sign = true,
                                   .has_zero = true,
                                   .smallest = 0x1p-10,
                                   .mantissa_bits = 3,
                                   .largest = 240,
                                   .sign_bit = 0x80,
                                   .nan = 0x80,
                                   .has_nan = true,
                                   .has_infinity = false,
                                   .negative_zero = 0x00};
const OracleFormat kOracleE2M1{.has_sign = true,
                               .has_zero = true,
                               .smallest = 0.5,
                               .mantissa_bits = 1,
                               .largest = 6,
                               .sign_bit = 0x8,
                               .nan = 0x7,
                               .has_nan = false,
                               .has_infinity = false,
                               .negative_zero = 0x8};
const OracleFormat kOracleUe8m0{.has_sign = false,
                                .has_zero = false,
                                .smallest = 0x1p-127,
                                .mantissa_bits = 0,
                                .largest = 0x1p127,
                                .sign_bit = 0,
                                .nan = 0xFF,
                                .has_nan = true,
                                .has_infinity = false,
                                .negative_zero = 0};
const OracleFormat kOracleBf16{.has_sign = true,
                               .has_zero = true,
                               .smallest = 0x1p-133,
                               .mantissa_bits = 7,
                               .largest = 0x1.FEp127,
                               .sign_bit = 0x8000,
                               .nan = 0x7FFF,
                               .has_nan = true,
                               .has_infinity = true,
                               .negative_zero = 0x8000};

namespace {

constexpr mpfr_prec_t kPrecision = 64;  // values, midpoints and fp32 inputs need 25 bits

}  // namespace

MpfrOracle::MpfrOracle(const OracleFormat& format) : format_(format) {
  const auto append = [](std::vector<Number>& list, const mpfr_t x) {
    list.emplace_back();
    mpfr_init2(list.back().value, kPrecision);
    mpfr_set(list.back().value, x, MPFR_RNDN);
  };
  mpfr_init2(magnitude_, kPrecision);

  // Steps from value to value: 2^mantissa_bits of them to a binade, then twice as long. With
  // subnormals the first steps last for two such runs, zero included.
  mpfr_t value;
  mpfr_t step;
  mpfr_t middle;
  mpfr_inits2(kPrecision, value, step, middle, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(value, format.has_zero ? 0.0 : format.smallest, MPFR_RNDN);
  mpfr_set_d(step, format.smallest, MPFR_RNDN);
  const int run = 1 << format.mantissa_bits;
  int left = format.has_zero ? 2 * run : run;
  while (mpfr_cmp_d(value, format.largest) <= 0) {
    append(values_, value);
    mpfr_div_2ui(middle, step, 1, MPFR_RNDN);
    mpfr_add(middle, value, middle, MPFR_RNDN);
    append(midpoints_, middle);
    mpfr_add(value, value, step, MPFR_RNDN);
    if (--left == 0) {
      mpfr_mul_2ui(step, step, 1, MPFR_RNDN);
      left = run;
    }
  }
  append(values_, value);
  mpfr_clears(value, step, middle, static_cast<mpfr_ptr>(nullptr));
}

MpfrOracle::~MpfrOracle() {
  for (auto& number : values_) mpfr_clear(number.value);
  for (auto& number : midpoints_) mpfr_clear(number.value);
  mpfr_clear(magnitude_);
}

double MpfrOracle::Value(std::size_t i) const { return mpfr_get_d(values_[i].value, MPFR_RNDN); }

std::size_t MpfrOracle::Find() {
  const auto holds = [this](std::size_t i) {
    return mpfr_cmp(values_[i].value, magnitude_) <= 0 &&
           (i + 1 == values_.size() || mpfr_cmp(magnitude_, values_[i + 1].value) < 0);
  };
  if (!holds(last_)) {
    const auto above = std::upper_bound(values_.begin(), values_.end(), 0, [this](int, const Number& number) {
      return mpfr_cmp(magnitude_, number.value) < 0;
    });
    last_ = static_cast<std::size_t>(above - values_.begin()) - 1;
  }
  return last_;
}

std::size_t MpfrOracle::RoundMagnitude(Rounding rounding, bool negative) {
  if (mpfr_cmp(magnitude_, values_.front().value) <= 0) return 0;
  const std::size_t lower = Find();
  if (lower + 1 == values_.size() || mpfr_equal_p(magnitude_, values_[lower].value) != 0) return lower;
  const std::size_t upper = lower + 1;
  if (rounding == Rounding::kTowardZero) return lower;
  if (rounding == Rounding::kAwayFromZero) return upper;
  const int side = mpfr_cmp(magnitude_, midpoints_[lower].value);
  if (side != 0) return side < 0 ? lower : upper;
  if (rounding == Rounding::kTiesAway) return upper;
  if (rounding == Rounding::kTiesToZero) return lower;
  if (rounding == Rounding::kTiesUp) return negative ? lower : upper;
  if (rounding == Rounding::kTiesDown) return negative ? upper : lower;
  return lower % 2 == 0 ? lower : upper;
}

std::uint32_t MpfrOracle::Encode(float x, Rounding rounding, Overflow overflow) {
  mpfr_set_flt(magnitude_, x, MPFR_RNDN);
  if (mpfr_nan_p(magnitude_) != 0) return format_.nan;
  const bool negative = format_.has_sign && mpfr_signbit(magnitude_) != 0;
  mpfr_abs(magnitude_, magnitude_, MPFR_RNDN);

  const std::size_t beyond = values_.size() - 1;
  const std::size_t code = mpfr_inf_p(magnitude_) != 0 ? beyond : RoundMagnitude(rounding, negative);
  const std::uint32_t sign = negative ? format_.sign_bit : 0;
  if (code == 0) return negative ? format_.negative_zero : 0;
  if (code < beyond) return sign + static_cast<std::uint32_t>(code);
  if (overflow == Overflow::kToInfinity && format_.has_infinity) return sign + static_cast<std::uint32_t>(beyond);
  if (overflow != Overflow::kSaturate && format_.has_nan) return format_.nan;
  return sign + static_cast<std::uint32_t>(beyond - 1);
}

}  // namespace kvexact::format_tests
