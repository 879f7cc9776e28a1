// SPDX-License-Identifier: Apache-2.0
// From enclosed values to the values that quantisation may start from.
#pragma once

#include <cstdint>
#include <span>

#include "reference/numerics/enclosure.h"
#include "reference/numerics/policy.h"

namespace kvexact {

// Element i may be any representable value of [lo[i], hi[i]] if classes[i] has kFinite, and the points
// that its other classes name. The values are bf16 ones, or fp32 ones under a policy that does not
// round to bf16 before quantisation.
struct Candidates {
  alignas(64) float lo[kMaxHeadDim];
  alignas(64) float hi[kMaxHeadDim];
  std::uint8_t classes[kMaxHeadDim];
};

// Candidates of columns [first, first + count), rounded to bf16 if `bf16`, stored from index 0.
void CandidatesOf(const Enclosure& enclosure, const Enclosure::Row& row, int first, int count, bool bf16,
                  Candidates& out);

// Whether some candidate is +0 or -0.
inline bool HasZero(const Candidates& c, int i) {
  return (c.classes[i] & kZero) != 0 || ((c.classes[i] & kFinite) != 0 && c.lo[i] <= 0 && c.hi[i] >= 0);
}

// bf16 bits as an integer that grows with the value: -0 is -1, +0 is 0. Not for NaN.
constexpr int Bf16Key(std::uint16_t bits) { return (bits & 0x8000U) != 0 ? -1 - (bits & 0x7FFF) : bits; }
// The same for fp32.
std::int64_t Fp32Key(std::uint32_t bits);

}  // namespace kvexact
