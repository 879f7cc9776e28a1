// SPDX-License-Identifier: Apache-2.0
// What was stored for one token or head, decoded, beside the strict model's values at its stages.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

// Columns [begin, end) that share a scale.
struct QuantisedBlock {
  std::size_t begin = 0;
  std::size_t end = 0;
  double scale = 0;     // stored
  double expected = 0;  // of the model
};

struct HeadValues {
  std::vector<double> stored;      // codes times their stored scale (of Q in FP8: the strict one), bf16 values
  std::vector<double> low;         // magnitudes from low[i] to high[i] round to stored[i], that of zero from below zero
  std::vector<double> high;        // infinite where the format saturates
  std::vector<double> rotated;     // of the model, before rounding
  std::vector<double> compressed;  // of the model, before the norm; of Q: the input
  std::vector<std::uint32_t> codes;           // of the quantised columns, which come first
  std::vector<std::uint32_t> expected_codes;  // of the model
  std::vector<QuantisedBlock> blocks;
  std::size_t first_rotated = 0;  // columns from here on rotate
  bool scale_stored = true;
  bool quantised_alone = false;  // there is no norm: Q
};

// Not for gather_split, which stores plain fp32. The token must store something.
HeadValues StoredHead(const Evidence& evidence, const JudgeOptions& options, std::int64_t token, std::int64_t head);

// Another token of a compression whose right output stands where `token`'s should, and is not the same; -1 if there is
// none, and for Q.
std::int64_t OtherOwner(const Evidence& evidence, const JudgeOptions& options, std::int64_t token);

}  // namespace kvexact
