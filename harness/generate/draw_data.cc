// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/draw_data.h"

#include <algorithm>

#include "harness/case/schema.h"
#include "harness/generate/shape.h"
#include "harness/generate/spec_fields.h"

namespace kvexact::generate {
namespace {

using enum ValueKind;

// Kinds whose fp32 windows stay finite in any order of summation: `extreme` is for weights alone.
ValueKind HostileValues(Stream& stream) {
  return stream.PickWeighted<ValueKind>({{kHeavy, 3},
                                         {kNegative, 2},
                                         {kWide, 2},
                                         {kGroups, 3},
                                         {kRows, 2},
                                         {kConstant, 1},
                                         {kIntegers, 2},
                                         {kCancel, 2},
                                         {kNearEps, 3},
                                         {kTiny, 2},
                                         {kHuge, 1},
                                         {kOverflow, 1},
                                         {kSubnormal, 1},
                                         {kZero, 2},
                                         {kSparse, 2},
                                         {kBits, 1}});
}

ValueKind PatternValues(Stream& stream) {
  return stream.PickWeighted<ValueKind>({{kE4M3Mid, 3}, {kE4M3Edge, 3}, {kE2M1Mid, 3}, {kE2M1Edge, 3}, {kBf16Mid, 1}});
}

ScoreKind HostileScores(Stream& stream) {
  return stream.PickWeighted<ScoreKind>({{ScoreKind::kFlat, 2},
                                         {ScoreKind::kTies, 2},
                                         {ScoreKind::kWide, 3},
                                         {ScoreKind::kSpread, 2},
                                         {ScoreKind::kHigh, 2},
                                         {ScoreKind::kLow, 2},
                                         {ScoreKind::kColumns, 2},
                                         {ScoreKind::kNegInf, 2},
                                         {ScoreKind::kCutoff, 2},
                                         {ScoreKind::kSubnormal, 1},
                                         {ScoreKind::kZero, 1},
                                         {ScoreKind::kHuge, 1}});
}

ValueKind HostileWeights(Stream& stream) {
  return stream.PickWeighted<ValueKind>({{kOne, 3},
                                         {kNormal, 3},
                                         {kHeavy, 2},
                                         {kGroups, 2},
                                         {kWide, 2},
                                         {kSparse, 1},
                                         {kZero, 1},
                                         {kTiny, 1},
                                         {kHuge, 1},
                                         {kExtreme, 1}});
}

AngleKind Angles(Stream& stream) {
  return stream.PickWeighted<AngleKind>(
      {{AngleKind::kUnit, 6}, {AngleKind::kQuarter, 1}, {AngleKind::kIdentity, 1}, {AngleKind::kWild, 1}});
}

// KV, scores and norm weight of the compression operations.
void DrawCompressValues(Stream& stream, CaseSpec& spec) {
  enum class Theme { kPlain, kDriven, kValues, kScores, kWeights, kAll };
  const auto theme = stream.PickWeighted<Theme>({{Theme::kPlain, 6},
                                                 {Theme::kDriven, 6},
                                                 {Theme::kValues, 6},
                                                 {Theme::kScores, 5},
                                                 {Theme::kWeights, 3},
                                                 {Theme::kAll, 3}});
  spec.angles = Angles(stream);
  const bool all = theme == Theme::kAll;
  if (theme == Theme::kValues || all) spec.values = HostileValues(stream);
  if (theme == Theme::kScores || all) spec.scores = HostileScores(stream);
  if (theme == Theme::kWeights || all) spec.weights = HostileWeights(stream);
  if (theme != Theme::kDriven) return;
  // The normed value is the weight up to its sign.
  spec.values = kDrive;
  spec.scores = ScoreKind::kDrive;
  spec.weights = PatternValues(stream);
  spec.angles =
      stream.PickWeighted<AngleKind>({{AngleKind::kQuarter, 4}, {AngleKind::kIdentity, 3}, {AngleKind::kUnit, 1}});
}

void DrawQValues(Stream& stream, CaseSpec& spec) {
  spec.angles = Angles(stream);
  spec.values = stream.Pick<ValueKind>(
      {kNormal, kRows, HostileValues(stream), HostileValues(stream), PatternValues(stream), PatternValues(stream)});
  if (stream.OneIn(3)) spec.angles = AngleKind::kQuarter;
  spec.weights = stream.PickWeighted<ValueKind>({{kNormal, 4}, {kNearOne, 2}, {kWide, 2}, {kSparse, 1}, {kOne, 1}});
  spec.softmax_scale = stream.Pick({0.08838834764831845, 1.0, 0.5, 0.11, 3.7});
  spec.head_scale = stream.Pick({0.125, 1.0, 0.11, -0.7, 1e-3});
}

// A few cases in a hundred hold NaN or infinities.
void DrawSpecial(Stream& stream, CaseSpec& spec) {
  if (!stream.OneIn(16)) return;
  if (!spec::row(spec.config.op).reads_state || stream.OneIn(2)) {
    spec.special = stream.Pick({Special::kNan, Special::kInf, Special::kNegInf});
  } else {
    spec.special = stream.Pick({Special::kScoreNan, Special::kScoreInf, Special::kScoreColumn, Special::kScoreAll});
  }
}

// More state blocks and pages than 8 bits number, and more KV slots than 16, where they are small.
constexpr std::int64_t kManyElements = 1 << 21;
constexpr std::int64_t kManyBytes = 5 << 20;

std::int64_t SpareBlocks(const Shape& shape, Stream& stream) {
  const std::int64_t few = stream.Below(4);
  constexpr std::int64_t kMany = 300;
  return stream.OneIn(16) && kMany * shape.block_stride <= kManyElements ? kMany : few;
}

std::int64_t SparePages(const Configuration& config, const Shape& shape, Stream& stream) {
  const std::int64_t few = stream.Below(3);
  if (shape.page_stride == 0 || !stream.OneIn(16)) return few;
  const std::int64_t wanted = stream.OneIn(2) ? 300 : 66000 / config.page + 1;
  return std::max(few, std::min(wanted, kManyBytes / shape.page_stride));
}

// Whether the KV cache stays small with a slot for every token, of a crowd too.
bool RoomForEveryToken(const CaseSpec& spec, const Shape& shape) {
  constexpr std::int64_t kBytes = 10 << 20;
  return shape.page_stride == 0 || TokensOf(spec) / spec.config.page < kBytes / shape.page_stride;
}

void DrawPlacement(Stream& stream, CaseSpec& spec) {
  const Shape shape = ShapeOf(spec.config);
  spec.order = stream.PickWeighted<TokenOrder>(
      {{TokenOrder::kRequests, 3}, {TokenOrder::kShuffled, 2}, {TokenOrder::kReversed, 1}});
  spec.skip_slots = stream.PickWeighted<std::int64_t>({{0, 24}, {10, 6}, {30, 6}, {60, 3}, {100, 1}});
  spec.skip_kv_slots = stream.PickWeighted<std::int64_t>({{0, 24}, {10, 6}, {30, 6}, {60, 3}, {100, 1}});
  spec.kv_slots_everywhere = stream.OneIn(3) && RoomForEveryToken(spec, shape);
  spec.garbage = stream.OneIn(2) ? Garbage::kSkipped : Garbage::kNone;
  spec.tail = stream.OneIn(2) ? stream.Between(1, 5) : 0;
  spec.blocks = stream.PickWeighted<BlockOrder>(
      {{BlockOrder::kPermuted, 4}, {BlockOrder::kShared, 2}, {BlockOrder::kIdentity, 1}, {BlockOrder::kReversed, 1}});
  spec.spare_blocks = SpareBlocks(shape, stream);
  spec.spare_columns = stream.OneIn(2) ? stream.Between(1, 4) : 0;
  spec.kv_slots = stream.PickWeighted<SlotOrder>(
      {{SlotOrder::kScattered, 4}, {SlotOrder::kReversed, 1}, {SlotOrder::kAscending, 1}});
  spec.spare_pages = SparePages(spec.config, shape, stream);
  spec.spare_angles = stream.Below(5);
  spec.unread = stream.PickWeighted<Unread>({{Unread::kNan, 3}, {Unread::kValues, 3}, {Unread::kInf, 1}});
  spec.eps = stream.PickWeighted<double>({{1e-6, 8}, {1e-5, 2}, {1e-12, 1}, {1e-3, 1}, {1.0, 1}});
}

void ResetOthers(CaseSpec& spec) {
  const CaseSpec defaults = DefaultSpec(spec.config.op);
  const auto reset = [&](const char*, schema::Bits operations, auto& field, const auto& usual) {
    if ((operations & schema::Bit(spec.config.op)) == 0) field = usual;
  };
  ForEachSetting(reset, spec, defaults);
}

}  // namespace

void DrawData(std::int64_t size, Launch launch, Stream& stream, CaseSpec& spec) {
  spec.seed = stream.Next() >> 32;
  DrawRequests(size, launch, stream, spec);
  DrawPlacement(stream, spec);
  if (spec::row(spec.config.op).family == spec::Family::kIndexerQ) {
    DrawQValues(stream, spec);
  } else {
    DrawCompressValues(stream, spec);
  }
  DrawSpecial(stream, spec);
  ResetOthers(spec);
}

}  // namespace kvexact::generate
