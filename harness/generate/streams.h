// SPDX-License-Identifier: Apache-2.0
// Names of a case's random streams: one a tensor or decision, so that a change of one setting leaves
// what the others decide as it was.
#pragma once

#include <cstdint>

namespace kvexact::generate {

enum StreamName : std::uint64_t {
  kTokenOrderStream = 1,
  kSkipStream,
  kKvSkipStream,
  kStateSlotStream,
  kKvSlotStream,
  kTailStream,
  kGarbageStream,
  kBlockStream,
  kSharedStream,
  kTableStream,
  kKvStream,
  kScoreStream,
  kScoreCaseStream,
  kDominantStream,
  kUnreadStream,
  kWeightStream,
  kAngleStream,
  kScratchStream,
  kQStream,
  kSpecialStream,
  kOutputStream,
  kNoKvSlotStream,
};

}  // namespace kvexact::generate
