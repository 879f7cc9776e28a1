// SPDX-License-Identifier: Apache-2.0
// The same tokens in another order and in two launches: what they store must not depend on it.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/case/case.h"

namespace kvexact {

// One launch of some of a case's tokens.
struct PartialLaunch {
  std::vector<std::int64_t> tokens;  // of the whole case, in the launch's order; live ones first, then inert ones
  Case part;                         // their case; caches and tables are aliases of the whole case's, rows copies
};

// A launch of `tokens` of the case, in that order; the first `live` of them are to be run, of those the first `decode`
// as decode tokens (two_stage alone). A token may be named twice if at most one of them writes.
PartialLaunch LaunchOf(const Case& c, std::vector<std::int64_t> tokens, std::int64_t live, std::int64_t decode);

// The tokens below num_actual, shuffled, in two launches: each half of the tokens, the second with the inert tail.
// two_stage keeps its decode tokens in front: decode and prefill tokens are shuffled and halved apart. Empty where
// fewer than two tokens are to be run. The case must have passed Check; so do the parts.
std::vector<PartialLaunch> Reordered(const Case& c, std::uint64_t seed);

// Outputs that belong to the launch: copies of its tokens' rows, and whole caches, which `whole` lacks from then on.
TensorMap TakeOutputs(const PartialLaunch& launch, TensorMap& whole);
// The inverse: rows and caches back into `whole`.
void PutBack(const PartialLaunch& launch, TensorMap&& part, TensorMap& whole);

}  // namespace kvexact
