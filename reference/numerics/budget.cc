// SPDX-License-Identifier: Apache-2.0
#include "reference/numerics/budget.h"

namespace kvexact {
namespace {

// exp_slope of ex2(fl(d * fl(log2 e))): one u from rounding the product (it moves the exponent by
// |d log2 e| u, hence the result by |d| u), 0.224 u from the rounding of log2 e.
constexpr Budget kBudgets[] = {
    {"default", "any careful fp32 implementation: any summation order, 2 ulp exp, division and rsqrt, flush", 2, 1.25,
     ExpArgument::kDifference, 2, 2, 0, 0, 0, true},
    {"tree32", "as default, with summation trees of height 32 at most", 2, 1.25, ExpArgument::kDifference, 2, 2, 32, 32,
     0, true},
    {"scaled-exp2", "as default, with exp2(s * log2e - m * log2e) and separate roundings", 2, 1.25,
     ExpArgument::kScaledTerms, 2, 2, 0, 0, 0, true},
    {"online", "as default, with an online softmax that rescales its sums at every row", 2, 1.25,
     ExpArgument::kDifference, 2, 2, 0, 0, 1 << 20, true},
};

}  // namespace

std::span<const Budget> Budgets() { return kBudgets; }

const Budget* FindBudget(std::string_view name) {
  for (const Budget& budget : kBudgets) {
    if (name == budget.name) return &budget;
  }
  return nullptr;
}

const Budget& DefaultBudget() { return kBudgets[0]; }

}  // namespace kvexact
