// SPDX-License-Identifier: Apache-2.0
// float to FP8, nearest even, saturating.
#pragma once

#include <cstdint>

namespace kvexact::host {

// E4M3FN: largest 448; a NaN is 0x7F whatever its sign.
std::uint8_t EncodeE4M3Fn(float x);

// E4M3FNUZ: largest 240; there is one zero, 0x00, and one NaN, 0x80.
std::uint8_t EncodeE4M3Fnuz(float x);

// E4M3FN of x clamped to +-448 by comparisons that a NaN fails: NaN becomes +448 (0x7E).
std::uint8_t EncodeClampedE4M3Fn(float x);

}  // namespace kvexact::host
