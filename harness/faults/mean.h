// SPDX-License-Identifier: Apache-2.0
// Weighted means with weights that a fault chooses, in double precision with a first-order bound.
#pragma once

#include <cmath>
#include <limits>

#include "harness/faults/rows.h"

namespace kvexact {

// value: numerator / denominator. Either may be infinite or NaN.
struct ColumnMean {
  double value;
  double error;  // of any fp32 evaluation, roughly
};

inline double ScoreAt(const Window& w, int r, int c) { return w.score[static_cast<std::size_t>(r)][c]; }
inline double KvAt(const Window& w, int r, int c) { return w.kv[static_cast<std::size_t>(r)][c]; }

inline double MaxScore(const Window& w, int c) {
  double max = -std::numeric_limits<double>::infinity();
  for (int r = w.masked; r < w.rows(); ++r) max = std::max(max, ScoreAt(w, r, c));
  return max;
}

// Sum of weight(r) * kv(r) over the sum of the weights (over 1 if not `normalised`).
template <class Weight>
ColumnMean MeanOf(const Window& w, int c, bool normalised, const Weight& weight) {
  double numerator = 0;
  double magnitude = 0;
  double denominator = 0;
  double spread = 0;
  const double max = MaxScore(w, c);
  for (int r = w.masked; r < w.rows(); ++r) {
    const double share = weight(r);
    numerator += share * KvAt(w, r, c);
    magnitude += std::fabs(share * KvAt(w, r, c)) * (1 + std::fmin(max - ScoreAt(w, r, c), 100) / 8);
    denominator += share;
    spread = std::fmax(spread, std::fabs(share));
  }
  const double divisor = normalised ? denominator : 1;
  return {numerator / divisor, std::fabs(magnitude / divisor) * (w.rows() + 16) * 0x1p-23};
}

inline void Put(const Strict&, Strict::Row& row, int c, const ColumnMean& mean) {
  row.value[c] = static_cast<float>(mean.value);
}

inline void Put(const Enclosure&, Enclosure::Row& row, int c, const ColumnMean& mean) {
  const bool overflow = std::fabs(mean.value) > std::numeric_limits<float>::max();
  row.mid[c] = 0;
  row.rad[c] = 0;
  row.classes[c] = kFinite;
  if (std::isnan(mean.value)) {
    row.classes[c] = kNan;
  } else if (overflow) {
    row.classes[c] = mean.value > 0 ? kPosInf : kNegInf;
  } else {
    row.mid[c] = mean.value;
    row.rad[c] = std::isfinite(mean.error) ? mean.error : 0;
  }
}

inline void Begin(Strict::Row& row, int columns) { row.columns = columns; }
inline void Begin(Enclosure::Row& row, int columns) {
  row.columns = columns;
  row.common = 0;
}
inline void End(Strict::Row&) {}
inline void End(Enclosure::Row& row) { MarkPlain(row); }

// A weighted_mean stage from Column::Of(window, column).
template <class Column>
struct MeanStage {
  template <class A>
  static void Run(const A& a, const Window& window, typename A::Row& row) {
    Begin(row, window.columns);
    for (int c = 0; c < window.columns; ++c) Put(a, row, c, Column::Of(window, c));
    End(row);
  }
};

}  // namespace kvexact
