// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace kvexact {

// The rows that a token's softmax runs over: one pointer a row to `columns` consecutive scores and
// KV values. Rows [0, masked) lie before position 0: score -inf, KV 0, pointers null.
struct Window {
  std::vector<const float*> score;
  std::vector<const float*> kv;
  int masked = 0;
  int columns = 0;

  int rows() const { return static_cast<int>(score.size()); }
};

inline constexpr int kMaxHeadDim = 512;

}  // namespace kvexact
