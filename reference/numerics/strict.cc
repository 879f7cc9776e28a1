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

void Strict::Scale(Row& row, Value factor) const { kernels_->strict_scale(row.value, row.columns, factor); }

void Strict::MultiplyBy(Row& row, std::span<const float> factors) const {
  kernels_->strict_multiply(row.value, row.columns, factors.data());
}

void Strict::RotatePairs(Row& row, int first, int pairs, const float* cos, const float* sin) const {
  kernels_->strict_rotate(row.value + first, pairs, cos, sin);
}

}  // namespace kvexact
