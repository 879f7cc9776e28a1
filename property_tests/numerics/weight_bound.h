// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kvexact {

// Bounds that docs/numerics.md states. Error of a weight with argument d, in ulp of the exact value:
// at most kMaxWeightUlp + kWeightUlpSlope * |d|.
inline constexpr double kMaxWeightUlp = 0.89;
inline constexpr double kWeightUlpSlope = 0.2245;
// Error of a weight at or below fp32's normal range, in units of 2^-126.
inline constexpr double kMaxWeightUnderflow = 0.71;

}  // namespace kvexact
