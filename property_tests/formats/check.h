// SPDX-License-Identifier: Apache-2.0
// Comparisons of a conversion with a witness, over many bit patterns.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kvexact::format_tests {

struct Mismatch {
  std::uint32_t bits;  // of the fp32 input
  std::int64_t expected;
  std::int64_t actual;
  const char* what;  // which of the check's comparisons
};

// Counts of comparisons; keeps the mismatch with the lowest bit pattern.
class Tally {
 public:
  void Compare(std::uint32_t bits, std::int64_t expected, std::int64_t actual, const char* what) {
    ++compared_;
    if (expected == actual) return;
    ++mismatched_;
    if (!first_ || bits < first_->bits) first_ = Mismatch{bits, expected, actual, what};
  }
  void Add(const Tally& other);

  std::uint64_t compared() const { return compared_; }
  std::uint64_t mismatched() const { return mismatched_; }
  const std::optional<Mismatch>& first() const { return first_; }

 private:
  std::uint64_t compared_ = 0;
  std::uint64_t mismatched_ = 0;
  std::optional<Mismatch> first_;
};

struct Check {
  std::string name;
  std::string claim;
  void (*run)(std::span<const std::uint32_t> bits, Tally& tally);  // skips patterns outside its domain
  std::uint32_t full_stride;  // of a full sweep: 1, or more where a value costs many comparisons
};

std::vector<Check> MpfrChecks();   // encoders against MPFR
std::vector<Check> ScaleChecks();  // scale exponents against exact arithmetic
std::vector<Check> CudaChecks();   // encoders against CUDA's host conversions; empty without its headers
std::vector<Check> AllChecks();

// Runs `check` over the patterns first, first + stride, ... below first + count (count <= 2^32 - first).
Tally RunRange(const Check& check, std::uint32_t first, std::uint64_t count, std::uint32_t stride);

// Runs `check` over every float that lies within one last place of a value with 8 mantissa bits or
// fewer: all codes of bf16 and smaller formats, all midpoints of formats with 7 mantissa bits or fewer.
Tally RunDecisionPoints(const Check& check);

// "bits 0x3e800000 (0.25): expected 0, actual 1 (what)".
std::string ToText(const Mismatch& mismatch);

}  // namespace kvexact::format_tests
