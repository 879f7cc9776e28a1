// SPDX-License-Identifier: Apache-2.0
// Which rows of the state cache a window reads.
#include <algorithm>
#include <new>

#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"

namespace kvexact {
namespace {

// A gather over the right window whose rows lie elsewhere.
template <RowOf kRow>
void GatherRows(const CompressInputs& in, const LiveToken& token, Window& window) {
  GatherFrom(in, token, WindowStart(in, token), in.window_rows(), kRow, window);
}

template <RowOf kRow>
void ReplaceRows(Variant& v) {
  v.stages.gather = &GatherRows<kRow>;
}

// Any other window of rows [start, start + rows).
template <class Shape>
void GatherOther(const CompressInputs& in, const LiveToken& token, Window& window, const Shape& shape) {
  GatherFrom(in, token, WindowStart(in, token) + shape.shift, shape.rows, &RightRow, window);
}

struct WindowShape {
  std::int64_t shift;
  std::int64_t rows;
};

std::int64_t Request(const CompressInputs& in, const LiveToken& token) { return in.token_to_req[token.index]; }

const float* SameHead(const CompressInputs& in, const LiveToken& t, std::int64_t, std::int64_t position) {
  return BoundedStateRow(in, Request(in, t), position, 0);
}
const float* SwappedHalves(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const std::int64_t offset = in.overlap ? in.head_dim - HeadOffset(in, row) : 0;
  return BoundedStateRow(in, Request(in, t), position, offset);
}
const float* HeadByRatio(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  return BoundedStateRow(in, Request(in, t), position, row >= in.ratio ? in.ratio : 0);
}
const float* HalvesOneLate(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  return BoundedStateRow(in, Request(in, t), position, row > in.ratio ? in.head_dim : 0);
}
const float* HalvesByParity(const CompressInputs& in, const LiveToken& t, std::int64_t, std::int64_t position) {
  const bool second = in.overlap && position / in.ratio % 2 != 0;
  return BoundedStateRow(in, Request(in, t), position, second ? in.head_dim : 0);
}
const float* RequestZero(const CompressInputs& in, const LiveToken&, std::int64_t row, std::int64_t position) {
  return BoundedStateRow(in, 0, position, HeadOffset(in, row));
}
const float* NextRequest(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  return BoundedStateRow(in, (Request(in, t) + 1) % in.block_table.rows(), position, HeadOffset(in, row));
}
const float* RequestByIndex(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  return BoundedStateRow(in, t.index % in.block_table.rows(), position, HeadOffset(in, row));
}
const float* LogicalBlock(const CompressInputs& in, const LiveToken&, std::int64_t row, std::int64_t position) {
  return BoundedBlockRow(in, position / in.block_size, position % in.block_size, HeadOffset(in, row));
}
const float* FirstBlockOnly(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const std::int64_t first = std::max<std::int64_t>(WindowStart(in, t), 0) / in.block_size * in.block_size;
  return BoundedStateRow(in, Request(in, t), first + position % in.block_size, HeadOffset(in, row));
}
const float* LastBlockOnly(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const std::int64_t last = t.position / in.block_size * in.block_size;
  return BoundedStateRow(in, Request(in, t), last + position % in.block_size, HeadOffset(in, row));
}
const float* BlockOfRatio(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const std::int64_t column = position / in.ratio;
  const bool known = column < in.block_table.cols() && Request(in, t) >= 0 && Request(in, t) < in.block_table.rows();
  return BoundedBlockRow(in, known ? in.block_table(Request(in, t), column) : -1, position % in.block_size,
                         HeadOffset(in, row));
}
const float* RowOfWindow(const CompressInputs& in, const LiveToken& t, std::int64_t row, std::int64_t position) {
  const std::int64_t base = position / in.block_size * in.block_size;
  return BoundedStateRow(in, Request(in, t), base + row % in.block_size, HeadOffset(in, row));
}
const float* TableWithoutPadding(const CompressInputs& in, const LiveToken& t, std::int64_t row,
                                 std::int64_t position) {
  // The row stride of the table taken as the blocks that the token's request has.
  const std::int64_t blocks = t.position / in.block_size + 1;
  const std::int64_t place = Request(in, t) * blocks + position / in.block_size;
  const std::int64_t stride = in.block_table.outerStride();
  const bool known = place >= 0 && place / stride < in.block_table.rows() && place % stride < in.block_table.cols();
  return BoundedBlockRow(in, known ? in.block_table(place / stride, place % stride) : -1, position % in.block_size,
                         HeadOffset(in, row));
}

void LastRatioRows(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    // Their head offset is that of the last half.
    GatherFrom(
        in, token, WindowStart(in, token) + in.window_rows() - in.ratio, in.ratio,
        [](const CompressInputs& n, const LiveToken& t, std::int64_t, std::int64_t position) {
          return BoundedStateRow(n, Request(n, t), position, n.overlap ? n.head_dim : 0);
        },
        window);
  };
}

template <std::int64_t kShift>
void Shifted(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    GatherOther(in, token, window, WindowShape{kShift, in.window_rows()});
  };
}

void DropOldest(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    const auto oldest = static_cast<std::size_t>(window.masked);
    if (window.rows() - window.masked < 2) return;
    window.score.erase(window.score.begin() + static_cast<std::ptrdiff_t>(oldest));
    window.kv.erase(window.kv.begin() + static_cast<std::ptrdiff_t>(oldest));
  };
}

// Rows before position 0 read as rows of this score and KV 0.
template <int kScore>
void MaskedRowsScore(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    struct Rows {
      float score[kMaxHeadDim];
      float kv[kMaxHeadDim];
    };
    static const Rows rows = [] {
      Rows r{};
      std::fill(std::begin(r.score), std::end(r.score), static_cast<float>(kScore));
      return r;
    }();
    for (int r = 0; r < window.masked; ++r) {
      window.score[static_cast<std::size_t>(r)] = rows.score;
      window.kv[static_cast<std::size_t>(r)] = rows.kv;
    }
    window.masked = 0;
  };
}

// Rows before position 0 read position 0.
void FirstRowRepeats(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    for (int r = 0; r < window.masked; ++r) {
      const float* row = RightRow(in, token, r, 0);
      window.kv[static_cast<std::size_t>(r)] = row;
      window.score[static_cast<std::size_t>(r)] = row + in.state_width;
    }
    window.masked = 0;
  };
}

void MaskFirstHalf(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    // A partial previous window counts as absent.
    if (window.masked > 0) window.masked = std::max(window.masked, static_cast<int>(in.window_rows() - in.ratio));
  };
}

void SwapKvAndScore(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    std::swap(window.kv, window.score);
  };
}

void ScoreBehindHead(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    for (std::size_t r = static_cast<std::size_t>(window.masked); r < window.kv.size(); ++r) {
      window.score[r] = window.kv[r] + in.head_dim;
    }
  };
}

void ScoreOfFirstHalf(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    BoundedGather(in, token, window);
    for (std::int64_t r = std::max<std::int64_t>(window.masked, in.ratio); r < in.window_rows(); ++r) {
      window.score[static_cast<std::size_t>(r)] -= in.head_dim;
    }
  };
}

void RebindCache(CompressInputs& in, std::int64_t stride) {
  const std::int64_t rows = in.state_cache.rows();
  const std::int64_t cols = std::min<std::int64_t>(in.state_cache.cols(), stride);
  const float* data = in.state_cache.data();
  new (&in.state_cache) MatrixView<float>(data, rows, cols, Eigen::OuterStride<>(stride));
}

void StridesFromShape(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    CompressInputs& in = launch.in;
    if (!spec::row(in.op).reads_state) return;
    in.state_row_stride = 2 * in.state_width;
    RebindCache(in, in.block_size * in.state_row_stride);
  };
}

void BlockStrideFromRows(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    CompressInputs& in = launch.in;
    if (spec::row(in.op).reads_state) RebindCache(in, in.block_size * in.state_row_stride);
  };
}

// An address in vectors: the stride in whole ones.
template <std::int64_t kElements>
void RowStrideInVectors(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    launch.in.state_row_stride -= launch.in.state_row_stride % kElements;
  };
}

void WidthFromHead(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    launch.in.state_width = launch.in.head_dim * (launch.in.overlap ? 2 : 1);
  };
}

constexpr Fault kRows[] = {
    {"gather-no-overlap", "gather", "only the last ratio rows", "a second window", kOverlaps, &LastRatioRows},
    {"gather-overlap-head", "gather", "both halves of the window read the same head offset", "overlap", kOverlaps,
     &ReplaceRows<&SameHead>},
    {"gather-swap-halves", "gather", "the previous window reads the second half, the current one the first", "overlap",
     kOverlaps, &ReplaceRows<&SwappedHalves>},
    {"gather-head-by-ratio", "gather", "the second half lies ratio elements on, not head_dim", "overlap", kOverlaps,
     &ReplaceRows<&HeadByRatio>},
    {"gather-half-one-late", "gather", "the second half begins one row late", "overlap", kOverlaps,
     &ReplaceRows<&HalvesOneLate>},
    {"gather-half-by-parity", "gather", "the half follows the parity of the window, not its age",
     "overlap, two windows", kOverlaps, &ReplaceRows<&HalvesByParity>},
    {"gather-mask-zero-score", "gather", "rows before position 0 get score 0, not -inf", "the first window", kOverlaps,
     &MaskedRowsScore<0>},
    {"gather-mask-minus-10000", "gather", "rows before position 0 get score -10000",
     "the first window, scores below -9900", kOverlaps, &MaskedRowsScore<-10000>},
    {"gather-mask-repeats", "gather", "rows before position 0 read position 0", "the first window", kOverlaps,
     &FirstRowRepeats},
    {"gather-mask-half", "gather", "a previous window that begins before position 0 is masked whole",
     "no reachable window: a masked row masks its half", kOverlaps, &MaskFirstHalf, FaultClass::kEquivalent,
     "A live position ends a window, so p + 1 = n * ratio. For n = 1 the rows before position 0 are the whole previous "
     "half, for n > 1 there are none: masking the half where any of its rows is masked changes nothing."},
    {"gather-off-by-one", "gather", "window [p - R, p - 1]", "any", kGathers, &Shifted<-1>},
    {"gather-next-token", "gather", "window [p - R + 2, p + 1]", "any", kGathers, &Shifted<1>},
    {"gather-drop-oldest", "gather", "leaves out the window's oldest row", "any window of two rows", kGathers,
     &DropOldest},
    {"gather-req-zero", "gather", "block table row of request 0 for all", "two requests", kGathers,
     &ReplaceRows<&RequestZero>},
    {"gather-next-request", "gather", "block table row of the next request", "two requests", kGathers,
     &ReplaceRows<&NextRequest>},
    {"gather-req-by-index", "gather", "block table row by the token's index", "a request with two tokens", kGathers,
     &ReplaceRows<&RequestByIndex>},
    {"gather-logical-block", "gather", "block number used as is, block table ignored", "permuted tables", kGathers,
     &ReplaceRows<&LogicalBlock>},
    {"gather-first-block", "gather", "the block of the window's first row for all rows", "a window over two blocks",
     kGathers, &ReplaceRows<&FirstBlockOnly>},
    {"gather-last-block", "gather", "the block of the token for all rows", "a window over two blocks", kGathers,
     &ReplaceRows<&LastBlockOnly>},
    {"gather-block-of-ratio", "gather", "block table column position / ratio", "block size unlike the ratio", kGathers,
     &ReplaceRows<&BlockOfRatio>},
    {"gather-row-of-window", "gather", "row within the block counted from the window's start",
     "a window that begins within a block", kGathers, &ReplaceRows<&RowOfWindow>},
    {"gather-table-stride", "gather", "row stride of the block table taken as the request's blocks",
     "a second request, padded tables", kGathers, &ReplaceRows<&TableWithoutPadding>},
    {"gather-kv-for-score", "gather", "KV and score swapped", "any", kGathers, &SwapKvAndScore},
    {"gather-score-behind-head", "gather", "score read head_dim behind KV, not state_width", "overlap", kGathers,
     &ScoreBehindHead},
    {"gather-score-first-half", "gather", "the current window's scores read at head offset 0", "overlap", kOverlaps,
     &ScoreOfFirstHalf},
    {"state-stride-from-shape", "gather", "row and block stride rebuilt from the width", "padded strides", kGathers,
     &StridesFromShape},
    {"state-block-stride", "gather", "block stride rebuilt from the row stride", "padded block strides", kGathers,
     &BlockStrideFromRows},
    {"state-row-stride-even", "gather", "row stride divided by 2 for loads of two floats, the remainder lost",
     "an odd row stride", kGathers, &RowStrideInVectors<2>},
    {"state-row-stride-by-4", "gather", "row stride divided by 4 for loads of four floats, the remainder lost",
     "a row stride that 4 does not divide", kGathers, &RowStrideInVectors<4>},
    {"state-width-from-head", "gather", "state width rebuilt from the head", "a padded state width", kGathers,
     &WidthFromHead},
};

}  // namespace

std::span<const Fault> GatherFaults() { return kRows; }

}  // namespace kvexact
