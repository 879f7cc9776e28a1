// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/host/compress_window.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kvexact::host {
namespace {

constexpr std::int64_t kTile = 64;  // columns whose weights are held at a time

// Start, in the state cache, of the KV columns of each window row at position >= 0, oldest first.
std::vector<const float*> WindowRows(const CompressInputs& in, std::int64_t token) {
  const std::int64_t rows = in.window_rows();
  const std::int64_t first = in.positions[token] - rows + 1;
  const std::int64_t request = in.token_to_req[token];
  std::vector<const float*> starts;
  starts.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t r = std::max<std::int64_t>(0, -first); r < rows; ++r) {
    const std::int64_t position = first + r;
    const std::int64_t block = in.block_table(request, position / in.block_size);
    const std::int64_t half = r < in.ratio ? 0 : in.head_dim;
    starts.push_back(in.state_cache.data() + block * in.state_cache.outerStride() +
                     position % in.block_size * in.state_row_stride + half);
  }
  return starts;
}

// Softmax-weighted mean of `columns` <= kTile columns; kv[r] and kv[r] + state_width are a row's values
// and scores. `weights` has room for a tile of every row.
void CompressTile(const std::vector<const float*>& kv, std::int64_t state_width, std::int64_t column,
                  std::int64_t columns, std::vector<float>& weights, float* out) {
  float largest[kTile];
  float sum[kTile] = {};
  std::fill_n(largest, columns, -std::numeric_limits<float>::infinity());
  for (const float* row : kv) {
    const float* score = row + state_width + column;
    for (std::int64_t c = 0; c < columns; ++c) largest[c] = score[c] > largest[c] ? score[c] : largest[c];
  }
  for (std::size_t r = 0; r < kv.size(); ++r) {
    const float* score = kv[r] + state_width + column;
    float* weight = weights.data() + r * kTile;
    for (std::int64_t c = 0; c < columns; ++c) {
      weight[c] = std::exp(score[c] - largest[c]);
      sum[c] += weight[c];
    }
  }
  std::fill_n(out, columns, 0.0F);
  for (std::size_t r = 0; r < kv.size(); ++r) {
    const float* value = kv[r] + column;
    const float* weight = weights.data() + r * kTile;
    for (std::int64_t c = 0; c < columns; ++c) out[c] += value[c] * (weight[c] / sum[c]);
  }
}

}  // namespace

bool AtBoundary(const CompressInputs& in, std::int64_t token) {
  if (in.slot_mapping[token] < 0) return false;
  const auto next = static_cast<std::int64_t>(static_cast<std::uint64_t>(in.positions[token]) + 1U);
  return next % in.ratio == 0;
}

void CompressWindow(const CompressInputs& in, std::int64_t token, std::int64_t begin, std::int64_t end, float* out) {
  const std::vector<const float*> rows = WindowRows(in, token);
  std::vector<float> weights(rows.size() * kTile);
  for (std::int64_t column = begin; column < end; column += kTile) {
    CompressTile(rows, in.state_width, column, std::min(kTile, end - column), weights, out + (column - begin));
  }
}

}  // namespace kvexact::host
