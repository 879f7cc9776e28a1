// SPDX-License-Identifier: Apache-2.0
// Columns of a window that a NaN or an infinity decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/numerics/column_kernels.h"
#include "reference/numerics/window.h"

namespace kvexact {

// A window's rows with 0 in place of each NaN, each infinite KV value and each score +inf. The window's
// rows beyond `masked` are copied.
class FiniteWindow {
 public:
  explicit FiniteWindow(const Window& window);

  // One pointer a row, as of Window; null for masked rows.
  const float* const* score() const { return score_.data(); }
  const float* const* kv() const { return kv_.data(); }

 private:
  std::vector<float> values_;
  std::vector<const float*> score_;
  std::vector<const float*> kv_;
};

// Classes (ValueClass) of the mean of a column with a NaN, an infinite KV value, a score +inf or no score
// above -inf: none of them finite, unless the weights may be anything. 0 for a column without.
std::uint8_t SpecialClasses(const Window& window, std::size_t column, const ColumnErrorModel& model);

}  // namespace kvexact
