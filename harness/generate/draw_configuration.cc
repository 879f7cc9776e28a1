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

std::int64_t OddPad(Stream& stream) { return stream.Pick<std::int64_t>({1, 3, 7}); }

using Sizes = std::initializer_list<std::int64_t>;

// One size of the class whose turn it is.
std::int64_t ByTurns(std::int64_t turn, std::initializer_list<Sizes> classes, Stream& stream) {
  return stream.Pick(classes.begin()[static_cast<std::size_t>(turn) % classes.size()]);
}

// Class 0 comes first to the operations that overlap at rank 2: their windows are twice as long.
std::int64_t Ratio(std::int64_t turn, Stream& stream) {
  return ByTurns(
      turn, {{129, 200, 255, 256}, {3, 5, 6, 7}, {1}, {8, 16}, {9, 11, 20, 33, 100}, {2}, {4}, {32, 64, 128}}, stream);
}

// Each operation meets more than 64 heads and a few within three configurations; production has 8 or 64.
std::int64_t Heads(const Turn& turn, Stream& stream) {
  if (turn.rank % 2 == 1) return stream.Pick<std::int64_t>({72, 100, 127, 128});
  return ByTurns(turn.wild + turn.rank / 2, {{1, 2}, {3, 5, 7}}, stream);
}

void WildState(Configuration& c, const Turn& turn, Stream& stream) {
  const std::int64_t rank = turn.rank;
  c.block = ByTurns(turn.wild, {{3, 5, 6}, {1}, {16, 32, 64}, {4, 8}, {2}}, stream);
  if (Chance(rank == 2, 3, stream)) c.width_pad = Pad(stream);
  // Every second padded row is odd, whose values no vector load finds aligned.
  if (Chance(rank == 1, 3, stream)) c.row_pad = turn.wild % 2 == 0 ? OddPad(stream) : Pad(stream);
  if (Chance(rank == 1, 3, stream)) c.block_pad = Pad(stream);
  const std::int64_t row = 2 * (spec::row(c.op).head_dim * (c.overlap ? 2 : 1) + c.width_pad) + c.row_pad;
  c.block = std::clamp<std::int64_t>(kMaxBlockElements / row, 1, c.block);
}

void WildCache(Configuration& c, const Turn& turn, Stream& stream) {
  const std::int64_t rank = turn.rank;
  std::vector<const spec::Layout*> layouts;
  for (const spec::Layout* layout : spec::kLayouts) {
    if (schema::Fits(*layout, c.op) && layout != spec::row(c.op).layout) layouts.push_back(layout);
  }
  if (!layouts.empty() && stream.OneIn(3)) {
    c.layout = layouts[static_cast<std::size_t>(stream.Below(static_cast<std::int64_t>(layouts.size())))]->name;
  }
  c.page = ByTurns(turn.wild, {{64}, {1}, {3, 5, 6}, {2}, {8, 16, 32}, {4}, {128, 256}}, stream);
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

Configuration WildConfiguration(Operation op, const Turn& turn, Stream& stream) {
  const std::int64_t rank = turn.rank;
  Configuration c = DefaultSpec(op).config;
  if (IsOneOf(op, kCompressOps)) c.ratio = Ratio(turn.wild, stream);
  if (IsOneOf(op, kOverlapOps)) c.overlap = rank != 1 && Chance(rank == 2, 2, stream);
  if (IsOneOf(op, kStateOps)) WildState(c, turn, stream);
  if (IsOneOf(op, kStoreOps)) {
    WildCache(c, turn, stream);
    if (Chance(rank == 2, 3, stream)) c.norm_type = FloatType::kBf16;
  }
  if (IsOneOf(op, kStoreOps | kQOps)) {
    if (spec::row(op).head_dim == 128) c.rope = ByTurns(turn.wild, {{64}, {2, 6, 20}, {96, 128}, {32}}, stream);
    if (Chance(rank == 1, 3, stream)) c.angle_pad = stream.Pick<std::int64_t>({2, 16, 64});
  }
  if (IsOneOf(op, kGatherSplitOp | kFinalizeOp) && Chance(rank == 1, 3, stream)) c.scratch_pad = Pad(stream);
  if (op == Operation::kGatherSplit) c.splits = stream.Pick<std::int64_t>({1, 2, 4, 8, 16, 32, 512});
  if (IsOneOf(op, kQOps)) {
    c.heads = Heads(turn, stream);
    if (Chance(rank == 2, 3, stream)) c.angle_type = FloatType::kBf16;
    if (rank != 1 && Chance(rank == 2, 2, stream)) c.weight_type = FloatType::kBf16;
  }
  if (op == Operation::kIndexerQFp8 && Chance(rank == 1, 3, stream)) c.fnuz = true;
  if (op == Operation::kIndexerQMxfp4 && Chance(rank == 1, 3, stream)) c.out_type = FloatType::kBf16;
  return c;
}

}  // namespace kvexact::generate
