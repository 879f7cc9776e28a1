// SPDX-License-Identifier: Apache-2.0
// What a launcher hands to a kernel. The right one hands over what it was given.
#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "reference/operations/inputs.h"

namespace kvexact {

// The views of `in` may point into the lists, which belong to the launch.
struct CompressLaunch {
  CompressInputs in;
  CompressOutputs out;
  std::list<std::vector<std::int64_t>> integers;
  std::list<std::vector<std::int32_t>> indices;
  std::list<std::vector<float>> floats;
};

struct IndexerQLaunch {
  IndexerQInputs in;
  IndexerQOutputs out;
};

inline void LaunchAsGiven(CompressLaunch&) {}
inline void LaunchQAsGiven(IndexerQLaunch&) {}

// two_stage: tokens [0, decode) go through the single pass, tokens [first, last) through the split path.
struct TwoStagePlan {
  std::int64_t decode;
  std::int64_t first;
  std::int64_t last;
};

// decode = clamp(num_decode_tokens, 0, num_actual); the split path takes the rest.
TwoStagePlan PlanTwoStage(const CompressInputs& in);

}  // namespace kvexact
