// SPDX-License-Identifier: Apache-2.0
// Largest error of the strict exponential against double precision exp (whose own error, below one
// double ulp, is 2^-29 of an fp32 ulp).
#pragma once

#include <cstdint>

#include "reference/numerics/column_kernels.h"

namespace kvexact {

struct WeightError {
  double max_ulp = 0;        // |w - 2^-k e^d| over ulp(2^-k e^d), where that is a normal number
  float worst = 0;           // its argument
  double max_excess = 0;     // largest error in ulp after kWeightUlpSlope * |d| is taken off
  double max_underflow = 0;  // largest 2^-k e^d at or below fp32's normal range, or cut off, in units of 2^-126
  std::int64_t inputs = 0;
};

// Arguments with bit patterns first, first + stride, ... below last (patterns of floats <= 0 start at 0x80000000).
WeightError MeasureWeights(const ColumnKernels& kernels, int shift, std::uint64_t first, std::uint64_t last,
                           std::uint64_t stride);

}  // namespace kvexact
