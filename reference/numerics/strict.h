// SPDX-License-Identifier: Apache-2.0
// The strict arithmetic: one fp32 value for everything (docs/numerics.md).
#pragma once

#include <cmath>
#include <span>

#include "reference/numerics/column_kernels.h"
#include "reference/numerics/window.h"

namespace kvexact {

class Strict {
 public:
  struct Row {
    alignas(64) float value[kMaxHeadDim];
    int columns = 0;
  };
  using Value = float;

  explicit Strict(const ColumnKernels& kernels = BestColumnKernels()) : kernels_(&kernels) {}

  // Softmax over the window's rows and weighted sum, column by column.
  void WeightedMean(const Window& window, Row& out) const;
  // A row of given values.
  void Assign(std::span<const float> values, Row& out) const;

  Value SumOfSquares(const Row& row) const { return kernels_->strict_sum_of_squares(row.value, row.columns); }
  Value Divide(Value a, int divisor) const { return a / static_cast<float>(divisor); }
  Value Add(Value a, float b) const { return a + b; }
  Value InverseSqrt(Value a) const { return 1.0F / std::sqrt(a); }

  void Scale(Row& row, Value factor) const;
  void MultiplyBy(Row& row, std::span<const float> factors) const;
  // Columns (first + 2i, first + 2i + 1) become (x cos[i] - y sin[i], y cos[i] + x sin[i]).
  void RotatePairs(Row& row, int first, int pairs, const float* cos, const float* sin) const;

 private:
  const ColumnKernels* kernels_;
};

}  // namespace kvexact
