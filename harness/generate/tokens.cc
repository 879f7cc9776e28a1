// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/tokens.h"

#include <algorithm>
#include <limits>

#include "harness/generate/counter_hash.h"
#include "harness/generate/streams.h"

namespace kvexact::generate {
namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 40;
constexpr std::int64_t kPointsNowhere = std::int64_t{1} << 30;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

// The stream of a decision about one token; it stays the same wherever the token stands in the launch.
Stream TokenStream(const CaseSpec& spec, StreamName name, const Token& token) {
  return Stream(StreamKey(
      spec.seed, {name, static_cast<std::uint64_t>(token.request), static_cast<std::uint64_t>(token.position)}));
}

std::vector<Token> ListTokens(const CaseSpec& spec, TokenPlan& plan) {
  std::vector<Token> tokens;
  tokens.reserve(static_cast<std::size_t>(TokensOf(spec) + spec.tail));
  for (const RequestRun& run : spec.requests) {
    for (std::int64_t i = 0; i < run.count; ++i, ++plan.requests) {
      for (std::int64_t position = run.start; position < run.start + run.length; ++position) {
        tokens.push_back({plan.requests, position, 0, 0, TokenFate::kLive, true, false});
      }
    }
    plan.end = std::max(plan.end, run.start + run.length);
  }
  plan.num_actual = static_cast<std::int64_t>(tokens.size());
  return tokens;
}

void Arrange(const CaseSpec& spec, std::vector<Token>& tokens) {
  switch (spec.order) {
    case TokenOrder::kRequests:
      return;
    case TokenOrder::kReversed:
      return std::reverse(tokens.begin(), tokens.end());
    case TokenOrder::kShuffled:
      return Stream(StreamKey(spec.seed, {kTokenOrderStream})).Shuffle(tokens);
  }
}

// Of a slot only the sign counts: some are 0, some need more than 32 bits.
std::int64_t StateSlot(Stream stream) {
  if (!stream.OneIn(4)) return stream.Below(1 << 20);
  constexpr std::int64_t kInt32 = std::int64_t{1} << 31;
  return stream.Pick<std::int64_t>({0, 0, 0, 1, kInt32 - 1, kInt32, 2 * kInt32, kFar});
}

// Every negative value skips, not -1 alone.
std::int64_t NoSlot(Stream stream) {
  if (!stream.OneIn(4)) return -1;
  return stream.Pick<std::int64_t>({-2, -7, std::numeric_limits<std::int32_t>::min(), kLowest});
}

bool HasKvSlots(const CaseSpec& spec) { return spec::row(spec.config.op).layout != nullptr; }

void DecideFate(const CaseSpec& spec, Token& token) {
  token.ends_window = (token.position + 1) % spec.config.ratio == 0;
  const bool no_slot = TokenStream(spec, kSkipStream, token).Percent(spec.skip_slots);
  const bool no_kv_slot = HasKvSlots(spec) && TokenStream(spec, kKvSkipStream, token).Percent(spec.skip_kv_slots);
  const Stream slots = TokenStream(spec, kStateSlotStream, token);
  token.slot = no_slot ? NoSlot(slots) : StateSlot(slots);
  const bool has_kv_slot = !no_kv_slot && (token.ends_window || spec.kv_slots_everywhere);
  token.kv_slot = has_kv_slot ? 0 : NoSlot(TokenStream(spec, kNoKvSlotStream, token));
  token.fate = no_slot              ? TokenFate::kNegativeSlot
               : !token.ends_window ? TokenFate::kNotBoundary
               : no_kv_slot         ? TokenFate::kNegativeKvSlot
                                    : TokenFate::kLive;
}

// A far position that ends no window; its lower 32 bits may say that it does.
std::int64_t FarWithinWindow(std::int64_t ratio, Stream& stream) {
  const std::int64_t ends_in_32_bits = (std::int64_t{1} << 32) + ratio - 1;
  return ends_in_32_bits % ratio != ratio - 1 && stream.OneIn(2) ? ends_in_32_bits : kFar / ratio * ratio;
}

// Replaces the metadata that the order of exits hides, of every second token. `gathers` says that the token's window is
// read although its KV slot is negative.
void MakeGarbage(const CaseSpec& spec, bool gathers, Token& token) {
  Stream stream = TokenStream(spec, kGarbageStream, token);
  const std::int64_t ratio = spec.config.ratio;
  if (token.fate != TokenFate::kInert && stream.OneIn(2)) return;
  switch (token.fate) {
    case TokenFate::kLive:
      return;
    case TokenFate::kInert:
    case TokenFate::kNegativeSlot:
      if (token.fate == TokenFate::kNegativeSlot) token.slot = stream.Pick<std::int64_t>({-1, -1, -7, kLowest});
      token.position = stream.Pick<std::int64_t>({kLowest, -1, kPointsNowhere, kFar - 1, kHighest});
      token.kv_slot = stream.Pick<std::int64_t>({kLowest, -1, kPointsNowhere, kHighest});
      break;
    case TokenFate::kNotBoundary:
      if (stream.OneIn(2)) token.position = FarWithinWindow(ratio, stream);
      token.kv_slot = stream.Pick<std::int64_t>({kLowest, -1, kPointsNowhere, kHighest, token.kv_slot});
      break;
    case TokenFate::kNegativeKvSlot:
      if (gathers || spec.garbage != Garbage::kAll) return;
      token.position = kFar / ratio * ratio + ratio - 1;
      token.kv_slot = stream.Pick<std::int64_t>({-1, -7, kLowest});
      break;
  }
  token.request = stream.Pick<std::int64_t>({kPointsNowhere, -1, std::numeric_limits<std::int32_t>::min()});
  token.garbage = true;
}

// Behind num_actual: copies of live tokens with slots of their own, as if they were to be stored; garbage
// where nothing is live.
void AppendTail(const CaseSpec& spec, std::vector<Token>& tokens) {
  std::vector<Token> live;
  std::ranges::copy_if(tokens, std::back_inserter(live), [](const Token& t) { return t.fate == TokenFate::kLive; });
  Stream stream(StreamKey(spec.seed, {kTailStream}));
  for (std::int64_t i = 0; i < spec.tail; ++i) {
    Token token{-1 - i, 0, 0, 0, TokenFate::kInert, false, false};
    if (!live.empty()) token = live[static_cast<std::size_t>(stream.Below(static_cast<std::int64_t>(live.size())))];
    token.fate = TokenFate::kInert;
    token.slot = stream.Below(1 << 20);
    if (live.empty()) MakeGarbage(spec, false, token);
    tokens.push_back(token);
  }
}

// Gives every token with room for one (kv_slot 0) a slot of its own. The order of tokens does not matter.
void AssignKvSlots(const CaseSpec& spec, TokenPlan& plan, std::vector<Token*> tokens) {
  const auto wanted = static_cast<std::int64_t>(tokens.size());
  plan.pages = (wanted + spec.config.page - 1) / spec.config.page + spec.spare_pages;
  std::vector<std::int64_t> slots(static_cast<std::size_t>(plan.pages * spec.config.page));
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i] = static_cast<std::int64_t>(i);
  if (spec.kv_slots == SlotOrder::kScattered) Stream(StreamKey(spec.seed, {kKvSlotStream})).Shuffle(slots);
  if (spec.kv_slots == SlotOrder::kReversed) std::ranges::reverse(slots);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i]->kv_slot = slots[i];
}

std::vector<Token*> WithoutKvSlot(std::vector<Token>& tokens) {
  std::vector<Token*> open;
  for (Token& token : tokens) {
    if (!token.garbage && token.kv_slot == 0) open.push_back(&token);
  }
  std::ranges::stable_sort(open, {}, [](const Token* t) {
    return std::pair(t->fate == TokenFate::kInert, std::pair(t->request, t->position));
  });
  return open;
}

// Skipped tokens, and every second one of the tail. Comes last, so that what is live stays as it is without garbage.
void ScatterGarbage(const CaseSpec& spec, TokenPlan& plan) {
  const bool two_stage = spec.config.op == spec::Operation::kTwoStage;
  const std::int64_t first_split =
      two_stage ? std::clamp<std::int64_t>(spec.decode, 0, plan.num_actual) : plan.num_actual;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(plan.tokens.size()); ++i) {
    Token& token = plan.tokens[static_cast<std::size_t>(i)];
    const bool spared = token.fate == TokenFate::kInert && (i - plan.num_actual) % 2 == 0;
    if (!spared && !token.garbage) MakeGarbage(spec, i >= first_split, token);
  }
}

}  // namespace

TokenPlan PlanTokens(const CaseSpec& spec) {
  TokenPlan plan;
  plan.tokens = ListTokens(spec, plan);
  for (Token& token : plan.tokens) DecideFate(spec, token);
  Arrange(spec, plan.tokens);
  AppendTail(spec, plan.tokens);
  if (HasKvSlots(spec)) AssignKvSlots(spec, plan, WithoutKvSlot(plan.tokens));
  if (spec.garbage != Garbage::kNone) ScatterGarbage(spec, plan);
  return plan;
}

TokenPlan PlanQTokens(const CaseSpec& spec) {
  TokenPlan plan;
  plan.tokens = ListTokens(spec, plan);
  Arrange(spec, plan.tokens);
  for (std::int64_t i = 0; i < spec.tail; ++i) {
    Token token{-1 - i, 0, 0, 0, TokenFate::kInert, false, false};
    if (spec.garbage != Garbage::kNone) MakeGarbage(spec, false, token);
    plan.tokens.push_back(token);
  }
  return plan;
}

}  // namespace kvexact::generate
