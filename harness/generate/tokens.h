// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/case/token_fate.h"
#include "harness/generate/case_spec.h"

namespace kvexact::generate {

// One entry of the token arrays.
struct Token {
  std::int64_t request;
  std::int64_t position;
  std::int64_t slot;     // value of slot_mapping
  std::int64_t kv_slot;  // value of kv_slot_mapping
  TokenFate fate;        // as TokenFates gives for the case
  bool ends_window;      // by its true position, whatever the slots
  bool garbage;          // request and position point nowhere
};

// The token arrays of a case, tail included, in launch order.
struct TokenPlan {
  std::vector<Token> tokens;
  std::int64_t num_actual = 0;
  std::int64_t requests = 0;
  std::int64_t pages = 0;  // of the KV cache
  std::int64_t end = 0;    // one behind the largest true position
};

// Tokens of a compression operation.
TokenPlan PlanTokens(const CaseSpec& spec);

// Tokens of a Q operation: requests and positions only; the tail is garbage.
TokenPlan PlanQTokens(const CaseSpec& spec);

}  // namespace kvexact::generate
