// SPDX-License-Identifier: Apache-2.0
// float to E2M1 (0, 0.5, 1, 1.5, 2, 3, 4, 6), nearest even, saturating.
#pragma once

#include <cstdint>

namespace kvexact::host {

// The nibble: sign in bit 3. A negative value that rounds to zero is 0x8; NaN is 0x7.
std::uint8_t EncodeE2M1(float x);

// First element of a pair in the low nibble.
std::uint8_t PackE2M1(float first, float second);

}  // namespace kvexact::host
