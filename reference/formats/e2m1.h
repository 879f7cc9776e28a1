// SPDX-License-Identifier: Apache-2.0
// E2M1 encoders for hot loops: nearest even, saturating, two codes a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/formats/fast_encode.h"
#include "reference/spec/format.h"

namespace kvexact {

// The nibble of `x`; `nan_code` where x is a NaN (7 in the model).
constexpr std::uint8_t EncodeE2M1(float x, std::uint8_t nan_code) {
  return static_cast<std::uint8_t>(EncodeFast<spec::kE2M1>(x, nan_code));
}

// The first element of a pair is the low nibble.
constexpr std::uint8_t PackNibbles(std::uint8_t first, std::uint8_t second) {
  return static_cast<std::uint8_t>(first | (second << 4));
}
constexpr std::uint8_t FirstNibble(std::uint8_t packed) { return packed & 0xF; }
constexpr std::uint8_t SecondNibble(std::uint8_t packed) { return packed >> 4; }

// packed[i] holds the codes of values[2i] * factor and values[2i + 1] * factor (one fp32
// multiplication each). values.size() is even; `packed` has half as many elements and does not overlap `values`.
constexpr void PackE2M1(std::span<const float> values, float factor, std::uint8_t nan_code, std::uint8_t* packed) {
  const float* x = values.data();
  for (std::size_t i = 0, n = values.size() / 2; i < n; ++i) {
    packed[i] = PackNibbles(EncodeE2M1(x[2 * i] * factor, nan_code), EncodeE2M1(x[2 * i + 1] * factor, nan_code));
  }
}

static_assert(PackNibbles(EncodeE2M1(1.0F, 7), EncodeE2M1(6.0F, 7)) == 0x72);

}  // namespace kvexact
