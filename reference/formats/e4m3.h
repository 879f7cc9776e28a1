// SPDX-License-Identifier: Apache-2.0
// E4M3 encoders for hot loops: nearest even, saturating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/formats/fast_encode.h"
#include "reference/spec/format.h"

namespace kvexact {

// The code of `x`; `nan_code` where x is a NaN (a Policy decides between 0x7E and 0x7F).
constexpr std::uint8_t EncodeE4M3Fn(float x, std::uint8_t nan_code) {
  return static_cast<std::uint8_t>(EncodeFast<spec::kE4M3Fn>(x, nan_code));
}

// As above; a negative value that rounds to zero gives 0x00, because 0x80 is the NaN.
constexpr std::uint8_t EncodeE4M3Fnuz(float x, std::uint8_t nan_code) {
  return static_cast<std::uint8_t>(EncodeFast<spec::kE4M3Fnuz>(x, nan_code));
}

// codes[i] = code of values[i] * factor (one fp32 multiplication). `codes` has values.size() elements
// and does not overlap `values`.
constexpr void EncodeE4M3Fn(std::span<const float> values, float factor, std::uint8_t nan_code, std::uint8_t* codes) {
  const float* x = values.data();
  for (std::size_t i = 0, n = values.size(); i < n; ++i) codes[i] = EncodeE4M3Fn(x[i] * factor, nan_code);
}

constexpr void EncodeE4M3Fnuz(std::span<const float> values, float factor, std::uint8_t nan_code, std::uint8_t* codes) {
  const float* x = values.data();
  for (std::size_t i = 0, n = values.size(); i < n; ++i) codes[i] = EncodeE4M3Fnuz(x[i] * factor, nan_code);
}

}  // namespace kvexact
