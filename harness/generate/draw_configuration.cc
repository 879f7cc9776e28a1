// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/draw_configuration.h"

#include <algorithm>

#include "harness/case/schema.h"
#include "harness/generate/spec_fields.h"

namespace kvexact::generate {
namespace {

using spec::Operation;

// A state block holds at most so many elements, so that cases stay small.
constexpr std::int64_t kMaxBlockElements = 1 << 15;

bool IsOneOf(Operation op, schema::Bits operations) { return (schema::Bit(op) & operations) != 0; }

// True for certain, or one time in n.
bool Chance(bool certain, std::int64_t n, Stream& stream) {
  const bool chance = stream.OneIn(n);
  return certain || chance;
}

// Extra elements of a row: mostly multiples of 4, now and then odd.
std::int64_t Pad(Stream& stream) {
  return stream.PickWeighted<std::int64_t>({{4, 3}, {28, 3}, {64, 3}, {1, 1}, {7, 1}});
}

std::int64_t Ratio(Stream& stream) {
  if (stream.OneIn(6)) return stream.Between(1, 256);
  return stream.PickWeighted<std::int64_t>(
      {{1, 2}, {2, 3}, {4, 5}, {8, 4}, {16, 3}, {32, 2}, {64, 1}, {128, 2}, {256, 1}});
}

void WildState(Configuration& c, std::int64_t rank, Stream& stream) {
  c.block = stream.Pick<std::int64_t>({1, 2, 3, 4, 4, 5, 8, 8, 16, 32, 64});
  if (Chance(rank == 2, 3, stream)) c.width_pad = Pad(stream);
  if (Chance(rank == 1, 3, stream)) c.row_pad = Pad(stream);
  if (Chance(rank == 1, 3, stream)) c.block_pad = Pad(stream);
  const std::int64_t row = 2 * (spec::row(c.op).head_dim * (c.overlap ? 2 : 1) + c.width_pad) + c.row_pad;
  c.block = std::clamp<std::int64_t>(kMaxBlockElements / row, 1, c.block);
}

void WildCache(Configuration& c, std::int64_t rank, Stream& stream) {
  std::vector<const spec::Layout*> layouts;
  for (const spec::Layout* layout : spec::kLayouts) {
    if (schema::Fits(*layout, c.op) && layout != spec::row(c.op).layout) layouts.push_back(layout);
  }
  if (!layouts.empty() && stream.OneIn(3)) {
    c.layout = layouts[static_cast<std::size_t>(stream.Below(static_cast<std::int64_t>(layouts.size())))]->name;
  }
  c.page = stream.Pick<std::int64_t>({1, 2, 3, 4, 5, 8, 16, 64});
  if (Chance(rank == 2, 4, stream)) c.base = stream.Pick<std::int64_t>({4, 16, 64, 576});
  c.page_multiple = stream.Pick<std::int64_t>({576, 576, 4, 64, 1024});
  if (c.op == Operation::kIndexerMxfp4 && c.layout.empty()) return;  // its kernel asserts both strides
  if (Chance(rank == 1, 5, stream)) c.token_pad = stream.Pick<std::int64_t>({4, 16, 64});
  if (Chance(rank == 2, 5, stream)) c.scale_pad = stream.Pick<std::int64_t>({4, 8});
}

}  // namespace

Configuration ProductionConfiguration(Operation op, Stream& stream) {
  Configuration c = DefaultSpec(op).config;
  if (op == Operation::kSparseAttn && stream.OneIn(3)) {
    c.ratio = 128;
    c.overlap = false;
    c.block = 8;
    c.page = 2;
  }
  if (op == Operation::kFinalize && stream.OneIn(2)) {
    c.ratio = 4;
    c.page = 64;
  }
  if (op == Operation::kGatherSplit) c.splits = stream.Pick<std::int64_t>({1, 4, 16});
  if (IsOneOf(op, kQOps)) {
    c.heads = stream.Pick<std::int64_t>({8, 64});
    c.weight_type = FloatType::kBf16;
  }
  if (op == Operation::kIndexerQMxfp4 && stream.OneIn(2)) c.out_type = FloatType::kBf16;
  return c;
}

Configuration WildConfiguration(Operation op, std::int64_t rank, Stream& stream) {
  Configuration c = DefaultSpec(op).config;
  if (IsOneOf(op, kCompressOps)) c.ratio = Ratio(stream);
  if (IsOneOf(op, kOverlapOps)) c.overlap = rank != 1 && Chance(rank == 2, 2, stream);
  if (IsOneOf(op, kStateOps)) WildState(c, rank, stream);
  if (IsOneOf(op, kStoreOps)) {
    WildCache(c, rank, stream);
    if (Chance(rank == 2, 3, stream)) c.norm_type = FloatType::kBf16;
  }
  if (IsOneOf(op, kStoreOps | kQOps)) {
    if (spec::row(op).head_dim == 128 && stream.OneIn(3)) c.rope = stream.Pick<std::int64_t>({2, 32, 96, 128});
    if (Chance(rank == 1, 3, stream)) c.angle_pad = stream.Pick<std::int64_t>({2, 16, 64});
  }
  if (IsOneOf(op, kGatherSplitOp | kFinalizeOp) && Chance(rank == 1, 3, stream)) c.scratch_pad = Pad(stream);
  if (op == Operation::kGatherSplit) c.splits = stream.Pick<std::int64_t>({1, 2, 4, 8, 16, 32, 512});
  if (IsOneOf(op, kQOps)) {
    c.heads = stream.Pick<std::int64_t>({1, 2, 3, 5, 8, 16, 64});
    if (Chance(rank == 2, 3, stream)) c.angle_type = FloatType::kBf16;
    if (rank != 1 && Chance(rank == 2, 2, stream)) c.weight_type = FloatType::kBf16;
  }
  if (op == Operation::kIndexerQFp8 && Chance(rank == 1, 3, stream)) c.fnuz = true;
  if (op == Operation::kIndexerQMxfp4 && Chance(rank == 1, 3, stream)) c.out_type = FloatType::kBf16;
  return c;
}

}  // namespace kvexact::generate
