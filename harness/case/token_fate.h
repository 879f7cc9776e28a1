// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/case/case.h"

namespace kvexact {

// Where a token leaves the operation. The order is that of the exits: a token is the first that applies.
enum class TokenFate : std::uint8_t {
  kInert,           // at or behind num_actual
  kNegativeSlot,    // slot_mapping < 0
  kNotBoundary,     // (position + 1) is no multiple of the ratio
  kNegativeKvSlot,  // kv_slot_mapping < 0, where the operation has one
  kLive,            // stores its outputs
};

// One fate a token. Of `c` only the shapes and types of positions, slot_mapping and kv_slot_mapping
// need be right, num_actual within them and compress_ratio >= 1. Tokens of the Q operations are live below num_actual.
std::vector<TokenFate> TokenFates(const Case& c);

}  // namespace kvexact
