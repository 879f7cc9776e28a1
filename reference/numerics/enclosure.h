// SPDX-License-Identifier: Apache-2.0
// The enclosing arithmetic: every value that an fp32 implementation within a budget could hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/numerics/budget.h"
#include "reference/numerics/column_kernels.h"
#include "reference/numerics/enclosed_value.h"
#include "reference/numerics/window.h"

namespace kvexact {

class Enclosure {
 public:
  // A row is { (1 + t) (mid[i] + r[i]) : |t| <= common, |r[i]| <= rad[i] } with one t for the whole row.
  struct Row {
    alignas(64) double mid[kMaxHeadDim];
    alignas(64) double rad[kMaxHeadDim];
    std::uint8_t classes[kMaxHeadDim];
    bool plain = true;  // every class is kFinite alone
    double common = 0;
    int columns = 0;
  };
  using Value = EnclosedValue;

  explicit Enclosure(const Budget& budget, const ColumnKernels& kernels = BestColumnKernels());

  const Budget& budget() const { return *budget_; }

  void WeightedMean(const Window& window, Row& out) const;
  void Assign(std::span<const float> values, Row& out) const;

  Value SumOfSquares(const Row& row) const;
  Value Divide(Value a, int divisor) const;  // the divisor must be a power of two
  Value Add(Value a, float b) const;
  Value InverseSqrt(Value a) const;

  void Scale(Row& row, Value factor) const;
  void MultiplyBy(Row& row, std::span<const float> factors) const;
  void RotatePairs(Row& row, int first, int pairs, const float* cos, const float* sin) const;

  static EnclosedValue At(const Row& row, int i);
  static Fp32Interval ToFp32(const EnclosedValue& value);
  // The same for columns [first, first + count), without the classes.
  void ToFp32(const Row& row, int first, int count, float* lo, float* hi) const;

 private:
  void ScaleAny(Row& row, const Value& factor) const;
  void MultiplyAny(Row& row, std::span<const float> factors) const;
  void RotateAny(Row& row, int i, float cos, float sin) const;
  double FlushedOperand(double mid, double rad, double factor) const;

  const Budget* budget_;
  const ColumnKernels* kernels_;
  ColumnErrorModel model_;
  RowErrorModel rows_;
  double underflow_;  // absolute error of one operation whose operands or result may be flushed
  mutable std::vector<double> workspace_;
};

}  // namespace kvexact
