// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/bounded.h"

#include <algorithm>
#include <vector>

namespace kvexact {
namespace {

// At least a row of any case: KV, score and the distance between them.
const float* Zeros(std::int64_t elements) {
  thread_local std::vector<float> zeros;
  if (zeros.size() < static_cast<std::size_t>(elements)) zeros.resize(static_cast<std::size_t>(2 * elements));
  return zeros.data();
}

}  // namespace

const float* BoundedBlockRow(const CompressInputs& in, std::int64_t block, std::int64_t row, std::int64_t offset) {
  const std::int64_t needed = in.state_width + in.head_dim;
  const std::int64_t end = (in.state_cache.rows() - 1) * in.state_cache.outerStride() + in.state_cache.cols();
  if (block < 0 || block >= in.state_cache.rows()) return Zeros(1 << 16);
  const std::int64_t place = block * in.state_cache.outerStride() + row * in.state_row_stride + offset;
  if (place < 0 || place + needed > end) return Zeros(1 << 16);
  return in.state_cache.data() + place;
}

const float* BoundedStateRow(const CompressInputs& in, std::int64_t request, std::int64_t position,
                             std::int64_t offset) {
  const std::int64_t column = position / in.block_size;
  const bool known = request >= 0 && request < in.block_table.rows() && position >= 0 && column < in.block_table.cols();
  return BoundedBlockRow(in, known ? in.block_table(request, column) : -1, position % in.block_size, offset);
}

std::int64_t HeadOffset(const CompressInputs& in, std::int64_t row) { return row >= in.ratio ? in.head_dim : 0; }

const float* RightRow(const CompressInputs& in, const LiveToken& token, std::int64_t row, std::int64_t position) {
  return BoundedStateRow(in, in.token_to_req[token.index], position, HeadOffset(in, row));
}

void GatherFrom(const CompressInputs& in, const LiveToken& token, std::int64_t start, std::int64_t rows, RowOf row_of,
                Window& window) {
  // A garbage position far below zero masks every row.
  const std::int64_t first = std::clamp<std::int64_t>(start, -rows, std::int64_t{1} << 40);
  const auto masked = std::clamp<std::int64_t>(-first, 0, rows);
  window.columns = static_cast<int>(in.head_dim);
  window.masked = static_cast<int>(masked);
  window.score.assign(static_cast<std::size_t>(rows), nullptr);
  window.kv.assign(static_cast<std::size_t>(rows), nullptr);
  for (std::int64_t r = masked; r < rows; ++r) {
    const float* row = row_of(in, token, r, first + r);
    window.kv[static_cast<std::size_t>(r)] = row;
    window.score[static_cast<std::size_t>(r)] = row + in.state_width;
  }
}

std::int64_t WindowStart(const CompressInputs& in, const LiveToken& token) {
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  return std::clamp(token.position, -kFar, kFar) - in.window_rows() + 1;
}

void BoundedGather(const CompressInputs& in, const LiveToken& token, Window& window) {
  GatherFrom(in, token, WindowStart(in, token), in.window_rows(), &RightRow, window);
}

RopeAngles AnglesFrom(const RopeSite& site, std::int64_t offset) {
  const MatrixView<float>& table = *site.cos_sin;
  const std::int64_t end = (table.rows() - 1) * table.outerStride() + table.cols();
  const std::int64_t last = std::max<std::int64_t>(end - site.rope_dim, 0);
  const float* row = table.data() + std::clamp<std::int64_t>(offset, 0, last);
  const int first = site.head_dim - site.rope_dim;
  return {row, row + site.rope_dim / 2, first, site.rope_dim / 2, site.whole_head ? 0 : first};
}

RopeAngles BoundedAngles(const RopeSite& site) {
  const std::int64_t position = std::clamp<std::int64_t>(site.position, 0, std::int64_t{1} << 40);
  return AnglesFrom(site, position / site.ratio * site.ratio * site.cos_sin->outerStride());
}

void PutBytes(const spec::PagedCache& cache, std::uint8_t* bytes, std::int64_t offset, const std::uint8_t* data,
              std::int64_t size) {
  const std::int64_t end = cache.pages * cache.page_stride;
  for (std::int64_t i = 0; i < size; ++i) {
    if (offset + i >= 0 && offset + i < end) bytes[offset + i] = data[i];
  }
}

TokenPlace PlaceOf(const spec::PagedCache& cache, std::int64_t slot) {
  // A slot that no cache has: even its address would overflow.
  constexpr std::int64_t kNowhere = -(std::int64_t{1} << 40);
  if (slot < -(std::int64_t{1} << 32) || slot > (std::int64_t{1} << 32)) return {kNowhere, kNowhere, kNowhere};
  return {cache.codes(slot), cache.scales(slot), cache.rope(slot)};
}

void StoreAt(const Stages& stages, const StoredToken& token, const spec::PagedCache& cache, const TokenPlace& place,
             std::uint8_t* bytes) {
  const spec::Layout& layout = cache.layout;
  std::uint8_t area[4 * kMaxHeadDim];
  const auto codes = static_cast<std::size_t>(layout.code_values);
  if (layout.code_type == spec::CodeType::kE2M1Nibble) {
    stages.pack({token.codes, codes}, area);
  } else {
    std::copy(token.codes, token.codes + codes, area);
  }
  PutBytes(cache, bytes, place.codes, area, layout.code_bytes());
  const int size = layout.scale_bytes();
  for (int i = 0; i < layout.scales() * size; ++i) {
    area[i] = static_cast<std::uint8_t>(token.scales[i / size] >> (8 * (i % size)));
  }
  std::fill_n(area + layout.scales() * size, layout.pad_scales, std::uint8_t{0});
  PutBytes(cache, bytes, place.scales, area, layout.scales() * size + layout.pad_scales);
  for (int i = 0; i < 2 * layout.rope_values; ++i) {
    area[i] = static_cast<std::uint8_t>(token.rope[i / 2] >> (8 * (i % 2)));
  }
  PutBytes(cache, bytes, place.rope, area, 2 * layout.rope_values);
}

void BoundedStore(const Stages& stages, const StoredToken& token, const spec::PagedCache& cache, std::int64_t slot,
                  std::uint8_t* bytes) {
  StoreAt(stages, token, cache, PlaceOf(cache, slot), bytes);
}

}  // namespace kvexact
