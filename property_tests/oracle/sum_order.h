// SPDX-License-Identifier: Apache-2.0
// Orders in which n terms may be added: binary trees as lists of merges.
#pragma once

#include <cstdint>
#include <vector>

#include "property_tests/oracle/random.h"

namespace kvexact::oracle {

enum class SumOrder : std::uint8_t {
  kForward,
  kReverse,
  kShuffled,
  kPairwise,    // neighbours, level by level
  kHalves,      // i and i + n / 2, level by level
  kStrided,     // a random number of strided partial sums, folded
  kRandomTree,  // random splits, random operand order
  kLopsided,    // random splits with one small side: tall trees
  // The rest look at the terms, so every column has its own.
  kAscending,  // chain by magnitude
  kDescending,
  kWorst,  // chain; of a few candidates the one whose rounding error helps the aim most
};

constexpr bool LooksAtTerms(SumOrder order) { return order >= SumOrder::kAscending; }

struct Merge {
  int into;
  int from;
  bool into_is_term;  // not yet a sum: a product that may be contracted into the addition
  bool from_is_term;
};

struct SumTree {
  int terms = 0;
  int root = 0;
  std::vector<Merge> merges;  // terms - 1, in order
};

// Additions between the farthest term and the sum.
int HeightOf(const SumTree& tree);

// Fewest partial chains for which n terms, dealt out in turn and then folded by halves, stay within
// `height` additions; 1 for height 0 (no limit). n must be at most 2^height.
int PartialsWithin(int n, int height);

// `perm` dealt out to `partials` chains in turn, which are then folded by halves.
SumTree ChainTree(const std::vector<int>& perm, int partials);

// A tree over n >= 1 terms of at most `height` additions (0: no limit). Not for orders that look at terms.
SumTree MakeSumTree(SumOrder order, int n, int height, Random& random);

}  // namespace kvexact::oracle
