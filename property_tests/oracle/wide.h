// SPDX-License-Identifier: Apache-2.0
// A real number of kBits significant bits (MPFR), with value semantics. Arithmetic rounds to nearest
// and never underflows or overflows on what fp32 data can produce; infinities and NaN are MPFR's.
#pragma once

#include <mpfr.h>

#include <string>

namespace kvexact::oracle {

class Wide {
 public:
  // A weighted mean of |KV| < 2^128 carries an absolute error below 2^-180 even if the terms cancel.
  static constexpr mpfr_prec_t kBits = 320;

  Wide() {
    mpfr_init2(v_, kBits);
    mpfr_set_zero(v_, 1);
  }
  Wide(double x) : Wide() { mpfr_set_d(v_, x, MPFR_RNDN); }  // NOLINT: every double is a Wide
  Wide(const Wide& o) : Wide() { mpfr_set(v_, o.v_, MPFR_RNDN); }
  Wide(Wide&& o) noexcept : Wide() { mpfr_swap(v_, o.v_); }
  Wide& operator=(const Wide& o) {
    mpfr_set(v_, o.v_, MPFR_RNDN);
    return *this;
  }
  Wide& operator=(Wide&& o) noexcept {
    mpfr_swap(v_, o.v_);
    return *this;
  }
  ~Wide() { mpfr_clear(v_); }

  mpfr_ptr raw() { return v_; }
  mpfr_srcptr raw() const { return v_; }

  bool IsNan() const { return mpfr_nan_p(v_) != 0; }
  bool IsInf() const { return mpfr_inf_p(v_) != 0; }
  bool IsZero() const { return mpfr_zero_p(v_) != 0; }
  bool IsFinite() const { return mpfr_number_p(v_) != 0; }
  bool IsNegative() const { return mpfr_signbit(v_) != 0; }

  // floor(log2 |x|) of a finite non-zero x.
  long Exponent() const { return static_cast<long>(mpfr_get_exp(v_)) - 1; }

  // Nearest double; |x| below 2^-1074 / 2 gives a zero.
  double ToDouble() const { return mpfr_get_d(v_, MPFR_RNDN); }

  friend Wide operator+(const Wide& a, const Wide& b) {
    Wide r;
    mpfr_add(r.v_, a.v_, b.v_, MPFR_RNDN);
    return r;
  }
  friend Wide operator-(const Wide& a, const Wide& b) {
    Wide r;
    mpfr_sub(r.v_, a.v_, b.v_, MPFR_RNDN);
    return r;
  }
  friend Wide operator*(const Wide& a, const Wide& b) {
    Wide r;
    mpfr_mul(r.v_, a.v_, b.v_, MPFR_RNDN);
    return r;
  }
  friend Wide operator/(const Wide& a, const Wide& b) {
    Wide r;
    mpfr_div(r.v_, a.v_, b.v_, MPFR_RNDN);
    return r;
  }
  Wide operator-() const {
    Wide r;
    mpfr_neg(r.v_, v_, MPFR_RNDN);
    return r;
  }
  friend Wide Abs(const Wide& a) {
    Wide r;
    mpfr_abs(r.v_, a.v_, MPFR_RNDN);
    return r;
  }
  friend Wide Exp(const Wide& a) {
    Wide r;
    mpfr_exp(r.v_, a.v_, MPFR_RNDN);
    return r;
  }
  friend Wide ReciprocalSqrt(const Wide& a) {
    Wide r;
    mpfr_rec_sqrt(r.v_, a.v_, MPFR_RNDN);
    return r;
  }
  // a * 2^k, exact.
  friend Wide Scale(const Wide& a, long k) {
    Wide r;
    mpfr_mul_2si(r.v_, a.v_, k, MPFR_RNDN);
    return r;
  }

  // False where either is NaN.
  friend bool operator<(const Wide& a, const Wide& b) { return mpfr_less_p(a.v_, b.v_) != 0; }
  friend bool operator<=(const Wide& a, const Wide& b) { return mpfr_lessequal_p(a.v_, b.v_) != 0; }
  friend bool operator==(const Wide& a, const Wide& b) { return mpfr_equal_p(a.v_, b.v_) != 0; }

 private:
  mpfr_t v_;
};

// For gtest messages: 30 significant digits.
std::string ToString(const Wide& x);

}  // namespace kvexact::oracle
