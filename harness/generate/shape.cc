// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/shape.h"

#include "harness/case/schema.h"

namespace kvexact::generate {

Shape ShapeOf(const Configuration& config) {
  const spec::OperationRow& row = spec::row(config.op);
  Shape shape{};
  shape.head_dim = row.head_dim;
  shape.halves = config.overlap ? 2 : 1;
  shape.window_rows = config.ratio * shape.halves;
  shape.state_width = shape.head_dim * shape.halves + config.width_pad;
  shape.state_row_stride = 2 * shape.state_width + config.row_pad;
  shape.block_stride = config.block * shape.state_row_stride + config.block_pad;
  shape.angle_columns = config.rope + config.angle_pad;
  shape.scratch_columns = shape.head_dim + config.scratch_pad;
  if (row.layout == nullptr) return shape;
  const spec::Layout* named = schema::LayoutNamed(config.layout);
  shape.layout = named != nullptr ? *named : *row.layout;
  shape.layout.token_stride += static_cast<int>(config.token_pad);
  shape.layout.scale_stride += static_cast<int>(config.scale_pad);
  const spec::PagedCache page{shape.layout, config.page, 0, config.base, 0};
  const std::int64_t end = config.base + page.page_used();
  shape.page_stride = (end + config.page_multiple - 1) / config.page_multiple * config.page_multiple;
  return shape;
}

}  // namespace kvexact::generate
