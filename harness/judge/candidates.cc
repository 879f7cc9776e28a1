// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/candidates.h"

#include "reference/formats/bf16.h"

namespace kvexact {

void CandidatesOf(const Enclosure::Row& row, int first, int count, bool bf16, Candidates& out) {
  for (int i = 0; i < count; ++i) {
    const Fp32Interval interval = Enclosure::ToFp32(Enclosure::At(row, first + i));
    out.classes[i] = interval.classes;
    out.lo[i] = bf16 ? WidenBf16(RoundToBf16(interval.lo)) : interval.lo;
    out.hi[i] = bf16 ? WidenBf16(RoundToBf16(interval.hi)) : interval.hi;
  }
}

std::int64_t Fp32Key(std::uint32_t bits) {
  const auto magnitude = static_cast<std::int64_t>(bits & 0x7FFFFFFFU);
  return (bits & 0x80000000U) != 0 ? -1 - magnitude : magnitude;
}

}  // namespace kvexact
