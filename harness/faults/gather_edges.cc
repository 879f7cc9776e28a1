// SPDX-License-Identifier: Apache-2.0
// Windows that are right but for an edge: masked rows, some block, the number of rows.
#include <algorithm>
#include <bit>
#include <limits>

#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"

namespace kvexact {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 40;

// A row that is there but weighs nothing: KV 0 and score -inf, at the distance that a state row has.
void Mask(Window& window, std::size_t r) {
  struct Row {
    float score[kMaxHeadDim];
    float kv[kMaxHeadDim];
  };
  static const Row row = [] {
    Row masked{};
    std::fill(std::begin(masked.score), std::end(masked.score), -std::numeric_limits<float>::infinity());
    return masked;
  }();
  window.score[r] = row.score;
  window.kv[r] = row.kv;
}

// The right window; rows for which `kMasked` holds weigh nothing.
using MaskedRow = bool (*)(const CompressInputs&, const LiveToken&, std::int64_t position);
template <MaskedRow kMasked>
void MaskMore(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    const std::int64_t start = WindowStart(in, token);
    for (int r = window.masked; r < window.rows(); ++r) {
      if (kMasked(in, token, start + r)) Mask(window, static_cast<std::size_t>(r));
    }
  };
}

std::int64_t TableEntry(const CompressInputs& in, const LiveToken& token, std::int64_t column) {
  const std::int64_t request = in.token_to_req[token.index];
  const bool known = request >= 0 && request < in.block_table.rows() && column >= 0 && column < in.block_table.cols();
  return known ? in.block_table(request, column) : -1;
}

bool InBlockZero(const CompressInputs& in, const LiveToken& token, std::int64_t position) {
  return TableEntry(in, token, position / in.block_size) == 0;
}
bool AtPositionZero(const CompressInputs&, const LiveToken&, std::int64_t position) { return position == 0; }
// The rows of this launch: those from the first position that the request has in it.
bool BeforeThisLaunch(const CompressInputs& in, const LiveToken& token, std::int64_t position) {
  std::int64_t first = std::clamp(token.position, -kFar, kFar);
  for (std::int64_t i = 0; i < in.num_actual; ++i) {
    const bool own = in.token_to_req[i] == in.token_to_req[token.index];
    if (own && in.positions[i] >= 0) first = std::min(first, in.positions[i]);
  }
  return position < first;
}

// Rows before position 0 are cut off, so that the window ends later.
void StartClamped(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    const std::int64_t start = std::max<std::int64_t>(WindowStart(in, token), 0);
    GatherFrom(in, token, start, in.window_rows(), &RightRow, window);
  };
}

void KeepRows(Window& window, std::size_t rows) {
  window.score.resize(rows);
  window.kv.resize(rows);
  window.masked = std::min(window.masked, static_cast<int>(rows));
}

template <int kRows>
void AtMostRows(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    if (window.rows() > kRows) KeepRows(window, kRows);
  };
}
template <int kGroup>
void WholeGroupsOfRows(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    if (window.rows() > kGroup) KeepRows(window, static_cast<std::size_t>(window.rows() / kGroup * kGroup));
  };
}
void DropNewest(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    if (window.rows() - window.masked > 1) KeepRows(window, static_cast<std::size_t>(window.rows()) - 1);
  };
}

template <RowOf kRow>
void ReplaceRows(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    GatherFrom(in, token, WindowStart(in, token), in.window_rows(), kRow, window);
  };
}

// Blocks of another size.
const float* RowBySize(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position,
                       std::int64_t size) {
  return BoundedBlockRow(in, TableEntry(in, t, position / size), position % size, HeadOffset(in, row));
}
const float* BlocksOf4(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  return RowBySize(in, t, row, position, 4);
}
const float* BlocksByShift(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const auto size = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(in.block_size)));
  return RowBySize(in, t, row, position, size);
}
const float* HalvesAtRow4(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  return BoundedStateRow(in, in.token_to_req[t.index], position, in.overlap && row >= 4 ? in.head_dim : 0);
}
const float* BlockAs8Bits(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const std::int64_t block = TableEntry(in, t, position / in.block_size);
  return BoundedBlockRow(in, block & 0xFF, position % in.block_size, HeadOffset(in, row));
}
const float* TableTransposed(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const std::int64_t request = in.token_to_req[t.index];
  const std::int64_t place = position / in.block_size * in.block_table.rows() + request;
  const bool known = request >= 0 && place < in.block_table.rows() * in.block_table.cols();
  const std::int64_t columns = in.block_table.cols();
  return BoundedBlockRow(in, known ? in.block_table(place / columns, place % columns) : -1, position % in.block_size,
                         HeadOffset(in, row));
}
const float* RowReversed(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const std::int64_t block = TableEntry(in, t, position / in.block_size);
  return BoundedBlockRow(in, block, in.block_size - 1 - position % in.block_size, HeadOffset(in, row));
}

// KV of a row and the score of the one before it.
void ScoresOneLate(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    for (auto r = static_cast<std::size_t>(window.rows()); --r > static_cast<std::size_t>(window.masked);) {
      window.score[r] = window.score[r - 1];
    }
  };
}

constexpr Fault kRows[] = {
    {"gather-block-zero", "gather", "rows of physical block 0 are masked, as if it stood for none",
     "a window over block 0", kGathers, &MaskMore<&InBlockZero>},
    {"gather-mask-position-zero", "gather", "position 0 is masked too", "the first window", kGathers,
     &MaskMore<&AtPositionZero>},
    {"gather-this-launch", "gather", "rows of earlier launches are masked", "a chunk that continues a request",
     kGathers, &MaskMore<&BeforeThisLaunch>},
    {"gather-start-clamped", "gather", "a window that begins before position 0 is moved to 0", "overlap, first window",
     kOverlaps, &StartClamped},
    {"gather-drop-newest", "gather", "leaves out the window's newest row", "any window of two rows", kGathers,
     &DropNewest},
    {"gather-rows-32", "gather", "reads at most 32 rows", "longer windows", kGathers, &AtMostRows<32>},
    {"gather-rows-128", "gather", "reads at most 128 rows", "longer windows", kGathers, &AtMostRows<128>},
    {"gather-rows-256", "gather", "reads at most 256 rows", "longer windows", kOverlaps, &AtMostRows<256>},
    {"gather-groups-of-8", "gather", "reads whole groups of 8 rows, the rest not",
     "longer windows that 8 does not divide", kGathers, &WholeGroupsOfRows<8>},
    {"gather-blocks-of-4", "gather", "4 positions a state block whatever the cache holds", "another block size",
     kGathers, &ReplaceRows<&BlocksOf4>},
    {"gather-block-shift", "gather", "positions a block taken as the power of two below",
     "a block size that is no power of two", kGathers, &ReplaceRows<&BlocksByShift>},
    {"gather-halves-at-row-4", "gather", "the second half begins at row 4 whatever the ratio", "overlap, another ratio",
     kOverlaps, &ReplaceRows<&HalvesAtRow4>},
    {"gather-block-uint8", "gather", "block numbers truncated to 8 bits", "256 state blocks", kGathers,
     &ReplaceRows<&BlockAs8Bits>},
    {"gather-table-transposed", "gather", "block table read as [columns, requests]", "two requests, two columns",
     kGathers, &ReplaceRows<&TableTransposed>},
    {"gather-rows-reversed", "gather", "rows of a block in reverse order", "blocks of two positions", kGathers,
     &ReplaceRows<&RowReversed>},
    {"gather-scores-one-late", "gather", "the score of the row before", "any window of two rows", kGathers,
     &ScoresOneLate},
};

}  // namespace

std::span<const Fault> GatherEdgeFaults() { return kRows; }

}  // namespace kvexact
