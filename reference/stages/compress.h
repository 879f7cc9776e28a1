// SPDX-License-Identifier: Apache-2.0
// The stages before rounding, written once over an arithmetic (Strict or Enclosure).
#pragma once

#include <cstdint>
#include <span>

#include "reference/numerics/window.h"

namespace kvexact {

// Columns of the row become the softmax-weighted means over the window's rows.
template <class A>
void WeightedMean(const A& a, const Window& window, typename A::Row& row) {
  a.WeightedMean(window, row);
}

// x becomes (x / sqrt(mean(x^2) + eps)) * weight. head_dim must be a power of two.
template <class A>
void RmsNorm(const A& a, typename A::Row& row, std::span<const float> weight, float eps) {
  const auto mean = a.Divide(a.SumOfSquares(row), row.columns);
  a.Scale(row, a.InverseSqrt(a.Add(mean, eps)));
  a.MultiplyBy(row, weight);
}

// One row of the cos/sin table and the columns that it turns.
struct RopeAngles {
  const float* cos;
  const float* sin;
  int first_column;  // even; pair i is columns first_column + 2 i and the next
  int pairs;
  int identity_from;  // pairs from here up to first_column turn by cos 1, sin 0; first_column: none
};

// The identity rotation of up to kMaxHeadDim / 2 pairs.
struct IdentityAngles {
  float cos[kMaxHeadDim / 2];
  float sin[kMaxHeadDim / 2];
  constexpr IdentityAngles() : cos(), sin() {
    for (float& c : cos) c = 1;
  }
};
inline constexpr IdentityAngles kIdentityAngles;

// Interleaved (GPT-J) rotation.
template <class A>
void Rope(const A& a, typename A::Row& row, const RopeAngles& angles) {
  const int unturned = (angles.first_column - angles.identity_from) / 2;
  if (unturned > 0) a.RotatePairs(row, angles.identity_from, unturned, kIdentityAngles.cos, kIdentityAngles.sin);
  a.RotatePairs(row, angles.first_column, angles.pairs, angles.cos, angles.sin);
}

}  // namespace kvexact
