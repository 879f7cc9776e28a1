// SPDX-License-Identifier: Apache-2.0
// What was stored for one token or head, decoded, beside the strict model's values at its stages.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

struct HeadValues {
  std::vector<double> stored;         // codes times their stored scale (of Q in FP8: the strict one), bf16 values
  std::vector<double> step;           // between neighbouring values of the format at stored[i]
  std::vector<double> smallest_step;  // of the format, at that scale
  std::vector<double> rotated;        // of the model, before rounding
  std::vector<double> compressed;     // of the model, before the norm; of Q: the input
  std::size_t first_rotated = 0;      // columns from here on rotate
  bool scale_stored = true;
  bool quantised_alone = false;  // there is no norm: Q
};

// Not for gather_split, which stores plain fp32. The token must store something.
HeadValues StoredHead(const Evidence& evidence, const JudgeOptions& options, std::int64_t token, std::int64_t head);

// Another token of a compression whose right output stands where `token`'s should, and is not the same; -1 if there is
// none, and for Q.
std::int64_t OtherOwner(const Evidence& evidence, const JudgeOptions& options, std::int64_t token);

}  // namespace kvexact
