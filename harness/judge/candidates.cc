// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/candidates.h"

#include <algorithm>

#include "reference/formats/bf16.h"

namespace kvexact {

void CandidatesOf(const Enclosure& enclosure, const Enclosure::Row& row, int first, int count, bool bf16,
                  Candidates& out) {
  enclosure.ToFp32(row, first, count, out.lo, out.hi);
  std::copy(row.classes + first, row.classes + first + count, out.classes);
  if (!bf16) return;
  for (int i = 0; i < count; ++i) {
    out.lo[i] = WidenBf16(RoundToBf16(out.lo[i]));
    out.hi[i] = WidenBf16(RoundToBf16(out.hi[i]));
  }
}

std::int64_t Fp32Key(std::uint32_t bits) {
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7FFFFFFFU);
  return (bits & 0x80000000U) != 0 ? -1 - magnitude : magnitude;
}

}  // namespace kvexact
