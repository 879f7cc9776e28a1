// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/generate/case_spec.h"
#include "reference/spec/layout.h"

namespace kvexact::generate {

// Extents that follow from a configuration. Elements, and bytes for the KV cache.
struct Shape {
  std::int64_t head_dim;
  std::int64_t halves;       // head offsets of the state: 2 with overlap
  std::int64_t window_rows;  // ratio * halves
  std::int64_t state_width;
  std::int64_t state_row_stride;
  std::int64_t block_stride;
  std::int64_t angle_columns;
  std::int64_t scratch_columns;
  spec::Layout layout;  // with the strides of the configuration; meaningful where a cache is written
  std::int64_t page_stride;
};

// The layout must be known and the extents must have been checked not to overflow.
Shape ShapeOf(const Configuration& config);

}  // namespace kvexact::generate
