// SPDX-License-Identifier: Apache-2.0
// The loops over columns that take the time, behind one table of functions an instruction set.
// Every table computes the same bits (docs/numerics.md); only the speed differs.
#pragma once

#include <cstddef>

namespace kvexact {

// Exact and first-order quantities of one softmax column set, in double precision, for the
// enclosure: see Enclosure::WeightedMean for what they mean and how they are used.
struct ColumnErrorModel {
  double exp_ulp;
  double exp_slope;
  double scaled_terms;  // relative error of a weight a unit of |s| + |m|, 0 for ExpArgument::kDifference
  double divide_ulp;
  int row_tree_height;  // 0: any order
  double rescalings;
  double flush;         // 2^-126 where results below it may become zero, else 0
  double gradual;       // rounding error of a product or sum below the normal range
};

inline constexpr int kEncloseWorkspace = 24;

struct ColumnKernels {
  const char* isa;

  // weight[i] = 2^-shift e^difference[i], strict, for differences <= 0, -inf and NaN; 0 <= shift <= 10.
  void (*strict_weights)(const float* difference, int count, int shift, float* weight);

  // out[c] = strict weighted mean of column c over rows [first, rows). Never vectorises over rows.
  void (*strict_mean)(const float* const* score, const float* const* kv, int first, int rows, int columns, float* out);

  // mid[c] +- rad[c] encloses every admissible value of the mean. All scores and KV must be finite,
  // except that scores may be -inf where another score of the column is finite. Columns whose
  // unnormalised sums may overflow get overflow[c] bit 0 (towards +inf) and bit 1 (towards -inf).
  // `workspace` holds kEncloseWorkspace doubles for each of the rows - first rows.
  void (*enclose_mean)(const ColumnErrorModel& model, const float* const* score, const float* const* kv, int first,
                       int rows, int columns, double* workspace, double* mid, double* rad, unsigned char* overflow);

  // Strict sum of squares over `columns` values, a multiple of 4 (tree of docs/numerics.md).
  float (*strict_sum_of_squares)(const float* x, int columns);
};

const ColumnKernels& BaseColumnKernels();
// Null where the build or the processor lacks them.
const ColumnKernels* Avx2ColumnKernels();
// The fastest table that this processor runs.
const ColumnKernels& BestColumnKernels();

}  // namespace kvexact
