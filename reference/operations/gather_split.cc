// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/gather_split.h"

#include <bit>

#include "reference/spec/format.h"

namespace kvexact {

void StoreScratchRow(const float* values, std::int64_t count, float* row) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float x = values[i];
    row[i] = x != x ? std::bit_cast<float>(spec::kFp32.canonical_nan) : x;
  }
}

}  // namespace kvexact
