// SPDX-License-Identifier: Apache-2.0
#include "property_tests/faults/port_kernels.h"

#include <cmath>
#include <limits>

namespace kvexact {
namespace {

void Mean(const float* const* score, const float* const* kv, int first, int rows, int columns, float* out) {
  for (int c = 0; c < columns; ++c) {
    float max = -std::numeric_limits<float>::infinity();
    for (int r = first; r < rows; ++r) max = score[r][c] > max ? score[r][c] : max;
    float sum = 0;
    for (int r = rows - 1; r >= first; --r) sum += std::exp(score[r][c] - max);
    float mean = 0;
    for (int r = rows - 1; r >= first; --r) mean += std::exp(score[r][c] - max) / sum * kv[r][c];
    out[c] = mean;
  }
}

float SumOfSquares(const float* x, int columns) {
  float sum = 0;
  for (int i = columns - 1; i >= 0; --i) sum += x[i] * x[i];
  return sum;
}

void Rotate(float* x, int pairs, const float* cos, const float* sin) {
  for (int i = 0; i < pairs; ++i) {
    const float even = x[2 * i];
    const float odd = x[2 * i + 1];
    x[2 * i] = even * cos[i] - odd * sin[i];
    x[2 * i + 1] = odd * cos[i] + even * sin[i];
  }
}

}  // namespace

const ColumnKernels& PortKernels() {
  static const ColumnKernels kernels = [] {
    ColumnKernels k = BaseColumnKernels();
    k.isa = "port";
    k.strict_mean = &Mean;
    k.strict_sum_of_squares = &SumOfSquares;
    k.strict_rotate = &Rotate;
    return k;
  }();
  return kernels;
}

}  // namespace kvexact
