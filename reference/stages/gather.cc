// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/gather.h"

#include <algorithm>

namespace kvexact {

void Gather(const CompressInputs& in, const LiveToken& token, Window& window) {
  const std::int64_t rows = in.window_rows();
  const std::int64_t start = token.position - rows + 1;
  const auto masked = std::clamp<std::int64_t>(-start, 0, rows);
  window.columns = static_cast<int>(in.head_dim);
  window.masked = static_cast<int>(masked);
  window.score.assign(static_cast<std::size_t>(rows), nullptr);
  window.kv.assign(static_cast<std::size_t>(rows), nullptr);
  if (masked == rows) return;
  const std::int64_t request = in.token_to_req[token.index];
  for (std::int64_t r = masked; r < rows; ++r) {
    const std::int64_t position = start + r;
    const std::int64_t block = in.block_table(request, position / in.block_size);
    const std::int64_t head_offset = r >= in.ratio ? in.head_dim : 0;
    const float* row = in.state_cache.data() + block * in.state_cache.outerStride() +
                       position % in.block_size * in.state_row_stride + head_offset;
    window.kv[static_cast<std::size_t>(r)] = row;
    window.score[static_cast<std::size_t>(r)] = row + in.state_width;
  }
}

}  // namespace kvexact
