// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/state_cache.h"

#include <algorithm>
#include <limits>

#include "harness/generate/counter_hash.h"
#include "harness/generate/fill.h"
#include "harness/generate/streams.h"
#include "harness/generate/values.h"

namespace kvexact::generate {
namespace {

constexpr std::int32_t kPointsNowhere = 1 << 30;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool HasWindow(const Token& token) { return token.ends_window && !token.garbage; }

}  // namespace

StateCache::StateCache(const CaseSpec& spec, const Shape& shape, const TokenPlan& plan)
    : spec_(spec), shape_(shape), plan_(plan) {
  columns_ = (plan.end + spec.config.block - 1) / spec.config.block;
  if (spec.blocks == BlockOrder::kShared) {
    shared_columns_ = Stream(StreamKey(spec.seed, {kSharedStream})).Below(columns_ + 1);
  }
  for (const Token& token : plan.tokens) {
    if (!HasWindow(token)) continue;
    const std::int64_t last = token.position / spec.config.block;
    for (std::int64_t column = FirstRow(token) / spec.config.block; column <= last; ++column) {
      blocks_.emplace_back(OwnerOf(token.request, column), column);
    }
  }
  std::ranges::sort(blocks_);
  blocks_.erase(std::unique(blocks_.begin(), blocks_.end()), blocks_.end());
  physical_.resize(blocks_.size() + static_cast<std::size_t>(spec.spare_blocks));
  for (std::size_t i = 0; i < physical_.size(); ++i) physical_[i] = static_cast<std::int64_t>(i);
  switch (spec.blocks) {
    case BlockOrder::kIdentity:
      break;
    case BlockOrder::kReversed:
      std::ranges::reverse(physical_);
      break;
    case BlockOrder::kPermuted:
    case BlockOrder::kShared:
      Stream(StreamKey(spec.seed, {kBlockStream})).Shuffle(physical_);
      break;
  }
}

std::int64_t StateCache::FirstRow(const Token& token) const {
  return std::max<std::int64_t>(token.position - shape_.window_rows + 1, 0);
}

std::int64_t StateCache::PhysicalBlock(std::int64_t request, std::int64_t column) const {
  const Block block(OwnerOf(request, column), column);
  return physical_[static_cast<std::size_t>(std::ranges::lower_bound(blocks_, block) - blocks_.begin())];
}

Tensor StateCache::BlockTable() const {
  Tensor table(DType::kI32, {plan_.requests, columns_ + spec_.spare_columns});
  auto* entries = table.as<std::int32_t>();
  const auto blocks = static_cast<std::int64_t>(physical_.size());
  Stream stream(StreamKey(spec_.seed, {kTableStream}));
  const bool valid = spec_.unread == Unread::kValues && blocks > 0;
  for (std::int64_t i = 0; i < table.elements(); ++i) {
    entries[i] = valid ? static_cast<std::int32_t>(stream.Below(blocks)) : kPointsNowhere;
  }
  for (const Token& token : plan_.tokens) {
    if (!HasWindow(token)) continue;
    const std::int64_t last = token.position / spec_.config.block;
    for (std::int64_t column = FirstRow(token) / spec_.config.block; column <= last; ++column) {
      entries[token.request * table.dim(1) + column] = static_cast<std::int32_t>(PhysicalBlock(token.request, column));
    }
  }
  return table;
}

float* StateCache::Row(Tensor& state, const Token& token, std::int64_t position) const {
  const std::int64_t block = PhysicalBlock(token.request, position / spec_.config.block);
  return state.as<float>() + block * shape_.block_stride + position % spec_.config.block * shape_.state_row_stride;
}

void StateCache::FillWindow(const Token& token, Tensor& state) const {
  const std::int64_t ratio = spec_.config.ratio;
  const std::uint64_t case_key = StreamKey(spec_.seed, {kScoreCaseStream});
  const auto head = static_cast<std::size_t>(shape_.head_dim);
  const std::int64_t group = shape_.layout.quant_block > 0 ? shape_.layout.quant_block : 64;
  for (std::int64_t position = FirstRow(token); position <= token.position; ++position) {
    // With overlap the first `ratio` rows of a window are read at head offset 0, the others behind it.
    const bool current = position > token.position - ratio;
    const std::int64_t half = current && shape_.halves == 2 ? 1 : 0;
    const auto owner = static_cast<std::uint64_t>(OwnerOf(token.request, position / spec_.config.block));
    const auto key = [&](StreamName name) {
      return StreamKey(spec_.seed,
                       {name, owner, static_cast<std::uint64_t>(position), static_cast<std::uint64_t>(half)});
    };
    const std::int64_t dominant = static_cast<std::int64_t>(At(StreamKey(spec_.seed, {kDominantStream}), owner) %
                                                            static_cast<std::uint64_t>(ratio));
    float* row = Row(state, token, position) + half * shape_.head_dim;
    FillValues(spec_.values, {key(kKvStream), position}, group, {row, head});
    FillScores(
        spec_.scores,
        {key(kScoreStream), case_key, current && position == token.position, current && position % ratio == dominant},
        {row + shape_.state_width, head});
  }
}

void StateCache::PutSpecial(const Token& token, Tensor& state) const {
  Stream stream(StreamKey(spec_.seed, {kSpecialStream}));
  stream.Next();  // chose the token
  const std::int64_t first = FirstRow(token);
  const std::int64_t chosen = stream.Between(first, token.position);
  const std::int64_t column = stream.Below(shape_.head_dim);
  const auto at = [&](std::int64_t position) {
    const bool current = position > token.position - spec_.config.ratio;
    return Row(state, token, position) + (current && shape_.halves == 2 ? shape_.head_dim : 0);
  };
  switch (spec_.special) {
    case Special::kNone:
      return;
    case Special::kNan:
      at(chosen)[column] = kNan;
      return;
    case Special::kInf:
      at(chosen)[column] = kInfinity;
      return;
    case Special::kNegInf:
      at(chosen)[column] = -kInfinity;
      return;
    case Special::kScoreNan:
      at(chosen)[shape_.state_width + column] = kNan;
      return;
    case Special::kScoreInf:
      at(chosen)[shape_.state_width + column] = kInfinity;
      return;
    case Special::kScoreColumn:
      for (std::int64_t position = first; position <= token.position; ++position) {
        at(position)[shape_.state_width + column] = -kInfinity;
      }
      return;
    case Special::kScoreAll:
      for (std::int64_t position = first; position <= token.position; ++position) {
        std::fill_n(at(position) + shape_.state_width, shape_.head_dim, -kInfinity);
      }
      return;
  }
}

Tensor StateCache::State() const {
  Tensor state(DType::kF32, {static_cast<std::int64_t>(physical_.size()), shape_.block_stride});
  FillUnread(spec_.unread, StreamKey(spec_.seed, {kUnreadStream, kKvStream}), state);
  std::vector<const Token*> live;
  for (const Token& token : plan_.tokens) {
    if (token.fate == TokenFate::kLive) live.push_back(&token);
  }
  for (const Token* token : live) FillWindow(*token, state);
  if (!live.empty()) {
    Stream stream(StreamKey(spec_.seed, {kSpecialStream}));
    PutSpecial(*live[static_cast<std::size_t>(stream.Below(static_cast<std::int64_t>(live.size())))], state);
  }
  return state;
}

}  // namespace kvexact::generate
