// SPDX-License-Identifier: Apache-2.0
#include "reference/numerics/strict.h"

#include <algorithm>

namespace kvexact {

void Strict::WeightedMean(const Window& window, Row& out) const {
  out.columns = window.columns;
  kernels_->strict_mean(window.score.data(), window.kv.data(), window.masked, window.rows(), window.columns, out.value);
}

void Strict::Assign(std::span<const float> values, Row& out) const {
  out.columns = static_cast<int>(values.size());
  std::copy(values.begin(), values.end(), out.value);
}

void Strict::Scale(Row& row, Value factor) const {
  for (int i = 0; i < row.columns; ++i) row.value[i] = row.value[i] * factor;
}

void Strict::MultiplyBy(Row& row, std::span<const float> factors) const {
  for (int i = 0; i < row.columns; ++i) row.value[i] = row.value[i] * factors[static_cast<std::size_t>(i)];
}

}  // namespace kvexact
