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
  // Weights may carry a factor 2^-k (docs/numerics.md), so that they, their products and sums leave fp32's
  // normal range at 2^(k - 126) of the values here.
  double flush;          // 2^(k - 126) where results below the normal range may become zero, else 0
  double gradual;        // rounding error of a product or sum below the normal range
  double flush_of_mean;  // 2^-126 where the mean may become zero below it, else 0
};

inline constexpr int kEncloseWorkspace = 80;

struct RowErrorModel {
  double flush;      // 2^-126 where a subnormal operand may count as zero, else 0
  double underflow;  // largest absolute error of a result below the normal range
};

struct ColumnKernels {
  const char* isa;

  // weight[i] = 2^-shift e^difference[i], strict, for differences <= 0, -inf and NaN; 0 <= shift <= 10.
  void (*strict_weights)(const float* difference, int count, int shift, float* weight);

  // out[c] = strict weighted mean of column c over rows [first, rows). Never vectorises over rows.
  void (*strict_mean)(const float* const* score, const float* const* kv, int first, int rows, int columns, float* out);

  // Sum of squares over `columns` values, a multiple of 4 and at most 1024, by the head's tree.
  float (*strict_sum_of_squares)(const float* x, int columns);
  void (*strict_scale)(float* x, int columns, float factor);
  void (*strict_multiply)(float* x, int columns, const float* factors);
  // Pairs (x[2i], x[2i + 1]) turn by (cos[i], sin[i]).
  void (*strict_rotate)(float* x, int pairs, const float* cos, const float* sin);

  // Whether every score and KV value of rows [first, rows) is a finite number.
  bool (*all_finite)(const float* const* score, const float* const* kv, int first, int rows, int columns);

  // mid[c] +- rad[c] encloses every admissible value of the mean. All scores and KV must be finite,
  // except that scores may be -inf where another score of the column is finite. Columns whose
  // unnormalised sums may overflow get overflow[c] bit 0 (towards +inf) and bit 1 (towards -inf); bit 2
  // where NaN may come of it otherwise than from infinities of both signs.
  // `workspace` holds kEncloseWorkspace doubles for each of the rows - first rows.
  void (*enclose_mean)(const ColumnErrorModel& model, const float* const* score, const float* const* kv, int first,
                       int rows, int columns, double* workspace, double* mid, double* rad, unsigned char* overflow);

  // Steps of Enclosure over rows of plainly finite values whose results stay finite. `common` is the
  // row's (see Enclosure::Row); Reach is the largest |mid| + rad.
  double (*reach)(const double* mid, const double* rad, int columns);
  void (*enclose_scale)(const RowErrorModel& model, double* mid, double* rad, int columns, double factor);
  void (*enclose_multiply)(const RowErrorModel& model, double* mid, double* rad, int columns, const float* factors,
                           double common);
  void (*enclose_rotate)(const RowErrorModel& model, double* mid, double* rad, int pairs, const float* cos,
                         const float* sin, double common);
  // The smallest and largest fp32 numbers in each interval.
  void (*to_fp32)(const double* mid, const double* rad, double common, int columns, float* lo, float* hi);
};

const ColumnKernels& BaseColumnKernels();
// Null where the build or the processor lacks them.
const ColumnKernels* Avx2ColumnKernels();
// The fastest table that this processor runs.
const ColumnKernels& BestColumnKernels();

}  // namespace kvexact
