// SPDX-License-Identifier: Apache-2.0
// Facts that follow from a format's row.
#pragma once

#include <cstdint>

#include "reference/spec/format.h"

namespace kvexact {

// All bits but the sign.
constexpr std::uint32_t MagnitudeMask(const spec::Format& format) {
  return ~std::uint32_t{0} >> (32 - format.bits + (format.is_signed ? 1 : 0));
}

// The sign bit, 0 where the format has none.
constexpr std::uint32_t SignMask(const spec::Format& format) {
  return format.is_signed ? MagnitudeMask(format) + 1 : 0;
}

constexpr std::uint32_t MantissaMask(const spec::Format& format) {
  return (std::uint32_t{1} << format.mantissa_bits) - 1;
}

// Exponent (of two) of the first binade.
constexpr int MinExponent(const spec::Format& format) { return format.has_subnormals ? 1 - format.bias : -format.bias; }

// +infinity, or the code behind the largest finite one where the format has none.
constexpr std::uint32_t InfinityCode(const spec::Format& format) {
  switch (format.nan) {
    case spec::NanCode::kIeee:
      return MagnitudeMask(format) & ~MantissaMask(format);
    case spec::NanCode::kAllOnes:
      return MagnitudeMask(format);
    case spec::NanCode::kNone:
    case spec::NanCode::kNegativeZero:
      return MagnitudeMask(format) + 1;
  }
  return 0;
}

// The largest finite value.
constexpr std::uint32_t MaxFiniteCode(const spec::Format& format) { return InfinityCode(format) - 1; }

constexpr bool IsNanCode(const spec::Format& format, std::uint32_t code) {
  switch (format.nan) {
    case spec::NanCode::kNone:
      return false;
    case spec::NanCode::kAllOnes:
      return (code & MagnitudeMask(format)) == MagnitudeMask(format);
    case spec::NanCode::kNegativeZero:
      return code == SignMask(format);
    case spec::NanCode::kIeee:
      return (code & MagnitudeMask(format)) > InfinityCode(format);
  }
  return false;
}

// What a NaN is stored as: the canonical NaN, or the largest finite value where the format has no
// NaN (E2M1: nibble 7, as NVIDIA's conversions give).
constexpr std::uint32_t NanResult(const spec::Format& format) {
  return format.nan == spec::NanCode::kNone ? MaxFiniteCode(format) : format.canonical_nan;
}

static_assert(MaxFiniteCode(spec::kE4M3Fn) == 0x7E);
static_assert(MaxFiniteCode(spec::kE4M3Fnuz) == 0x7F);
static_assert(MaxFiniteCode(spec::kE2M1) == 7);
static_assert(MaxFiniteCode(spec::kUe8m0) == 0xFE);
static_assert(MaxFiniteCode(spec::kBf16) == 0x7F7F);
static_assert(MaxFiniteCode(spec::kFp32) == 0x7F7FFFFF);

}  // namespace kvexact
