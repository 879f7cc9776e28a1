// SPDX-License-Identifier: Apache-2.0
// An encoder that shares nothing with reference/formats but the names of the rules: it lists a
// format's values and their midpoints as MPFR numbers and looks x up among them.
#pragma once

#include <mpfr.h>

#include <cstdint>
#include <vector>

#include "reference/formats/rounding.h"

namespace kvexact::format_tests {

// A format as its standard states it, written again here rather than read from reference/spec.
struct OracleFormat {
  bool has_sign;
  bool has_zero;    // code 0 is zero; else it is `smallest`
  double smallest;  // smallest positive value
  int mantissa_bits;
  double largest;          // largest finite value
  std::uint32_t sign_bit;  // 0 if unsigned
  std::uint32_t nan;       // what a NaN is stored as
  bool has_nan;
  bool has_infinity;            // one code above the largest finite value
  std::uint32_t negative_zero;  // what a negative that rounds to zero is stored as
};

extern const OracleFormat kOracleE4M3Fn;    // OCP OFP8 1.0
extern const OracleFormat kOracleE4M3Fnuz;  // "FNUZ" of AMD's CDNA 3
extern const OracleFormat kOracleE2M1;      // OCP MX 1.0
extern const OracleFormat kOracleUe8m0;     // OCP MX 1.0 (E8M0)
extern const OracleFormat kOracleBf16;

// Not thread-safe: the last place found is where the next search starts.
class MpfrOracle {
 public:
  explicit MpfrOracle(const OracleFormat& format);
  ~MpfrOracle();
  MpfrOracle(const MpfrOracle&) = delete;
  MpfrOracle& operator=(const MpfrOracle&) = delete;

  std::uint32_t Encode(float x, Rounding rounding, Overflow overflow);

  // Exact value of the non-negative finite code `i`.
  double Value(std::size_t i) const;
  std::size_t finite_codes() const { return values_.size() - 1; }  // non-negative ones

 private:
  struct Number {
    mpfr_t value;
  };
  // The largest i with values_[i] <= |x|. |x| is at least values_[0] and finite.
  std::size_t Find();
  std::size_t RoundMagnitude(Rounding rounding, bool negative);

  OracleFormat format_;
  std::vector<Number> values_;     // by code, and behind the largest where the next binade would go on
  std::vector<Number> midpoints_;  // between values_[i] and values_[i + 1]
  mpfr_t magnitude_;
  std::size_t last_ = 0;
};

}  // namespace kvexact::format_tests
