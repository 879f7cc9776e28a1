// SPDX-License-Identifier: Apache-2.0
// Decides from paired rounds whether one implementation is slower than another.
#pragma once

#include "harness/bench/paired_rounds.h"

namespace kvexact::bench {

enum class Decision { kFaster, kSame, kSlower, kAmbiguous };
const char* NameOf(Decision decision);

struct Gate {
  Decision decision = Decision::kAmbiguous;
  double median_us = 0;  // of b - a
  double low_us = 0;     // the median lies in [low, high] with a confidence of 99.99 %
  double high_us = 0;
  double tolerance_us = 0;  // up to which b counts as the same
};

// Looks at the differences b - a of neighbouring rounds, whatever their distribution: the order statistics around the
// median between which it lies by the sign test. Slower: the whole interval is above the tolerance (2.5 % of A's
// median, at least 0.25 us); faster: all of it is as far below; same: none of it is above, but it is not surely faster.
// Ambiguous: it straddles the tolerance, B would be slower or faster but clocks moved, or there are too few rounds for
// an interval. Both vectors have the same length.
Gate Decide(const PairedRounds& pairs);

}  // namespace kvexact::bench
