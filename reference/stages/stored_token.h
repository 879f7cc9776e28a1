// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/numerics/window.h"

namespace kvexact {

// What one token stores, element by element, before it is packed and placed.
struct StoredToken {
  static constexpr int kMaxScales = 32;
  static constexpr int kMaxRope = 512;

  std::uint8_t codes[kMaxHeadDim];   // one a quantised element; a nibble for E2M1
  std::uint32_t scales[kMaxScales];  // UE8M0 byte or fp32 bits
  std::uint16_t rope[kMaxRope];      // bf16 bits
};

}  // namespace kvexact
