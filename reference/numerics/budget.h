// SPDX-License-Identifier: Apache-2.0
// Error budgets: what an implementation may do differently from the strict model, as named rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kvexact {

// How the argument of the exponential is formed from a score s and the column's maximum m.
enum class ExpArgument : std::uint8_t {
  kDifference,   // fl(s - m), the same fp32 value for everybody
  kScaledTerms,  // s * log2(e) and m * log2(e) with separate roundings, then their difference
};

// u = 2^-24. An ulp of a result is 2^(floor(log2 |exact|) - 23).
struct Budget {
  const char* name;
  const char* summary;
  double exp_ulp;    // error of the exponential itself, ulp of its result
  double exp_slope;  // further relative error, in u a unit of |s - m| (scaling by log2 e, its rounding)
  ExpArgument argument;
  double divide_ulp;     // division, ulp of its result
  double rsqrt_ulp;      // reciprocal square root, ulp of its result
  int row_tree_height;   // additions between a row's term and the sum; 0: any order
  int head_tree_height;  // additions between a column's square and the sum; 0: any order
  int rescalings;        // times that an online softmax rescales its sums; 0: none
  bool flush;            // subnormal operands and results may become zero
};

std::span<const Budget> Budgets();

// The row of that name, or null.
const Budget* FindBudget(std::string_view name);
const Budget& DefaultBudget();

}  // namespace kvexact
