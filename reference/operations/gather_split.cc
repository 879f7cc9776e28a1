// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/gather_split.h"

#include <bit>

#include "reference/spec/format.h"

namespace kvexact {

void GatherSplit(const Stages& stages, const CompressInputs& in, std::int64_t first, std::int64_t last, float* scratch,
                 std::int64_t scratch_stride) {
  const Strict strict;
  TokenWorkspace<Strict> work;
  for (std::int64_t t = first; t < last; ++t) {
    LiveToken token;
    if (!stages.locate(in, t, token)) continue;
    CompressColumns(stages, strict, in, token, work);
    float* row = scratch + (t - first) * scratch_stride;
    for (int i = 0; i < work.row.columns; ++i) {
      const float x = work.row.value[i];
      row[i] = x != x ? std::bit_cast<float>(spec::kFp32.canonical_nan) : x;
    }
  }
}

}  // namespace kvexact
