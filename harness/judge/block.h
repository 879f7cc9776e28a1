// SPDX-License-Identifier: Apache-2.0
// The allowed sets of one quantised block: its scale exponent and its codes, judged together
// (docs/numerics.md, "Allowed sets": rules a, b and c).
#pragma once

#include <cstdint>
#include <string>

#include "harness/judge/candidates.h"
#include "reference/stages/stages.h"

namespace kvexact {

// Exponents that some choice of candidates gives. An infinite absmax gives kInfiniteExponent (or the
// clamp's 127), which need not be adjacent to the others.
struct ExponentSet {
  int lo;
  int hi;         // finite part [lo, hi], empty if hi < lo
  bool infinite;  // kInfiniteExponent besides
  bool flushed;   // hi is the clamp's 127, and its factor 2^-127 may be flushed to zero: the codes are
                  // then those of kInfiniteExponent

  int members() const { return (hi < lo ? 0 : hi - lo + 1) + (infinite ? 1 : 0); }
  std::string Text() const;  // as powers of two
};

// A stored scale's bits in hexadecimal and its value: as a power of two where it is one.
std::string ScaleText(spec::ScaleType type, std::uint32_t stored);

// What an implementation may do with the factor 2^-127 of an infinite absmax: it is subnormal.
enum class SmallestFactor : std::uint8_t {
  kKept,         // the quotient by 2^127
  kMayBeFlushed  // exp2(-127), which flushing makes zero
};

// Codes that one element may have at a given exponent: the interval [lo, hi] of code keys (see CodeKey)
// and the codes that NaN and infinities give.
struct CodeSet {
  int lo = 1;
  int hi = 0;
  std::uint32_t points[4] = {};
  int point_count = 0;

  bool contains(const spec::Format& format, std::uint8_t code) const;
  int members(const spec::Format& format) const;
  std::string text(const spec::Format& format) const;
};

// Of the compression's factor under a budget; Q divides by its scale.
constexpr SmallestFactor SmallestFactorOf(const Budget& budget) {
  return budget.flush ? SmallestFactor::kMayBeFlushed : SmallestFactor::kKept;
}

// Code as an integer that grows with the value; -0 is -1 and +0 is 0.
int CodeKey(const spec::Format& format, std::uint32_t code);

class Block {
 public:
  // Elements [first, first + count) of `candidates`, which must outlive the block.
  Block(const Stages& stages, const QuantiseRule& rule, SmallestFactor smallest, const Candidates& candidates,
        int first, int count);

  const ExponentSet& exponents() const { return exponents_; }
  int count() const { return count_; }
  const spec::Format& format() const { return *rule_->format; }

  // Members of element i's set given exponent e; elements beyond the exponent's reach are left out (rule b).
  CodeSet codes(int i, int e) const;

  // Whether some element's observed code fits a candidate that needs exponent e (rule c); always true
  // at the lowest exponent.
  bool reaches(int e, const std::uint8_t* observed) const;

  // Codes at exponent e of the elements' lower and upper ends, count() each: where they agree, the
  // element is plain (see `plain`) and has no other member.
  void end_codes(int e, std::uint8_t* lo, std::uint8_t* hi) const;
  bool plain(int i) const;

 private:
  float lo(int i) const { return candidates_->lo[first_ + i]; }
  float hi(int i) const { return candidates_->hi[first_ + i]; }
  std::uint8_t classes(int i) const { return candidates_->classes[first_ + i]; }
  int exponent_of(float magnitude) const;
  // Largest candidate magnitude's exponent, infinities included.
  bool clip(float& lo, float& hi, int e) const;

  const Stages* stages_;
  const QuantiseRule* rule_;
  const Candidates* candidates_;
  int first_;
  int count_;
  ExponentSet exponents_;
};

}  // namespace kvexact
