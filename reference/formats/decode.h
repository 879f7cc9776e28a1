// SPDX-License-Identifier: Apache-2.0
// Code to value, for any format whose values all fit fp32.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/formats/properties.h"
#include "reference/spec/format.h"

namespace kvexact {

// The exact value of `code` (its low format.bits bits). A NaN code gives the fp32 NaN 0x7FFFFFFF.
constexpr float Decode(const spec::Format& format, std::uint32_t code) {
  const std::uint32_t magnitude = code & MagnitudeMask(format);
  code = magnitude | (code & SignMask(format));
  const std::uint32_t sign = (code & SignMask(format)) != 0 ? 0x80000000U : 0;
  if (IsNanCode(format, code)) return std::bit_cast<float>(spec::kFp32.canonical_nan);
  if (format.has_infinity && magnitude == InfinityCode(format)) return std::bit_cast<float>(sign | 0x7F800000U);

  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  std::uint32_t significand = magnitude & MantissaMask(format);
  int exponent = MinExponent(format);  // of a significand of 2^mantissa_bits
  if (!format.has_subnormals || field != 0) {
    significand |= std::uint32_t{1} << format.mantissa_bits;
    exponent = field - format.bias;
  }
  if (significand == 0) return std::bit_cast<float>(sign);

  // value = significand * 2^(exponent - mantissa_bits); the leading bit has weight 2^leading.
  const auto width = static_cast<int>(std::bit_width(significand));
  const int leading = exponent - format.mantissa_bits + width - 1;
  const std::uint32_t normalised = significand << (24 - width);
  if (leading < -126) return std::bit_cast<float>(sign | (normalised >> (-126 - leading)));
  return std::bit_cast<float>(sign | (static_cast<std::uint32_t>(leading + 127) << 23) | (normalised & 0x7FFFFFU));
}

// The largest finite value.
constexpr float MaxFinite(const spec::Format& format) { return Decode(format, MaxFiniteCode(format)); }

static_assert(MaxFinite(spec::kE4M3Fn) == 448.0F);
static_assert(MaxFinite(spec::kE4M3Fnuz) == 240.0F);
static_assert(MaxFinite(spec::kE2M1) == 6.0F);
static_assert(MaxFinite(spec::kUe8m0) == 0x1p127F);
static_assert(MaxFinite(spec::kBf16) == 0x1.FEp127F);
static_assert(MaxFinite(spec::kFp32) == 0x1.FFFFFEp127F);
static_assert(Decode(spec::kUe8m0, 0) == 0x1p-127F);
static_assert(Decode(spec::kE4M3Fn, 1) == 0x1p-9F);
static_assert(Decode(spec::kE4M3Fnuz, 1) == 0x1p-10F);

}  // namespace kvexact
