// SPDX-License-Identifier: Apache-2.0
// What a head's stored values have in common with the model's: statements that hold for all columns but a few.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/report/head_values.h"

namespace kvexact {

// Columns [begin, end) of a head.
struct Columns {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t count() const { return end - begin; }
};

// Share of the columns whose stored value is what `factor` times the model's value rounds to; 1 of no columns.
double ShareWith(const HeadValues& head, Columns columns, const std::vector<double>& model, double factor);

// The factor above zero that most columns have in common, and their share.
struct CommonFactor {
  double factor = 0;
  double share = 0;
};
CommonFactor FactorOf(const HeadValues& head, Columns columns, const std::vector<double>& model);

// Whether each quantised block holds the model's values times a factor of its own.
bool FactorByBlock(const HeadValues& head);

// Whether the stored codes that are not the model's follow from the model's code at their column: equal ones became
// equal ones. Codes of other values do not.
bool FollowFromCodes(const HeadValues& head);

// Whether every stored code is the model's or next to it, at the model's scales.
bool NextToCodes(const HeadValues& head);

// Share of the columns whose stored value has the model's sign, of those that are not zero; 1 of no columns.
double SameSigns(const HeadValues& head, Columns columns);

// Whether the same columns of two tokens are off, and by the same factors. Few wrong columns do not tell.
bool OffByColumn(const HeadValues& a, const HeadValues& b, Columns columns);

}  // namespace kvexact
