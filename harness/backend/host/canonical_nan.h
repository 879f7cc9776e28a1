// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace kvexact::host {

// x, or the NaN 0x7FFFFFFF for any NaN, so that stored bytes do not depend on the processor's choice of payload.
inline float CanonicalNan(float x) { return x == x ? x : std::bit_cast<float>(std::uint32_t{0x7FFFFFFF}); }

}  // namespace kvexact::host
