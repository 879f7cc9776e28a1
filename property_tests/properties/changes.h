// SPDX-License-Identifier: Apache-2.0
// Cases that mean the same as another one. Written from the documented inputs alone, not from the stages.
#pragma once

#include <cstdint>

#include "harness/case/case.h"
#include "harness/generate/counter_hash.h"
#include "harness/run/reorder.h"

namespace kvexact::properties {

// Decode tokens of two_stage within num_actual; 0 for other operations.
std::int64_t DecodeTokens(const Case& c);

// All tokens in one launch: those that are to be run in another order (decode tokens first), the tail behind them.
PartialLaunch PermutedTokens(const Case& c, generate::Stream& random);
// Tokens [0, at) and the rest, as two launches.
std::vector<PartialLaunch> SplitAt(const Case& c, std::int64_t at);
// A launch a token, in order.
std::vector<PartialLaunch> TokenByToken(const Case& c);
// Between the tokens, others that the operation must skip: a negative state slot and metadata that point nowhere, or
// the request and position of a neighbour.
PartialLaunch WithSkippedTokens(const Case& c, generate::Stream& random);

// State blocks in another physical order, and the block table that says so.
Case RenamedBlocks(const Case& c, generate::Stream& random);

// KV slots exchanged among each other.
struct MovedSlots {
  Case c;
  std::vector<std::int64_t> slot_of;  // where the token with slot s went
};
MovedSlots MoveSlots(const Case& c, generate::Stream& random);
// The stored areas of the moved case's live tokens back at their slots, in a cache that otherwise holds `c`'s fill.
TensorMap MovedBack(const Case& c, const MovedSlots& moved, const TensorMap& after);

// Every score of column k raised by shift(k), an integer.
Case ShiftedScores(const Case& c, generate::Stream& random);

// KV (scratch, Q) times 2^k, with eps times 2^2k (Q: weights times 2^-k).
Case Scaled(const Case& c, int k);
// What it stored, brought back: fp32 scratch and UE8M0 scales of Q by 2^-k.
TensorMap ScaledBack(const Case& c, int k, TensorMap after);

}  // namespace kvexact::properties
