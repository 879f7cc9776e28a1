// SPDX-License-Identifier: Apache-2.0
// Number formats as rows of data. Everything else about a format is derived from its row
// (reference/formats/). Data only: host and device code include it.
#pragma once

#include <cstdint>

namespace kvexact::spec {

// How a format spells "not a number".
enum class NanCode : std::uint8_t {
  kNone,          // no NaN (E2M1)
  kAllOnes,       // exponent and mantissa all ones, either sign (E4M3FN); the all-ones byte (UE8M0)
  kNegativeZero,  // the code of -0, which is therefore not a zero (E4M3FNUZ)
  kIeee,          // exponent all ones, mantissa not zero (bf16, fp32)
};

// value = (-1)^sign * 2^(exponent - bias) * (1 + mantissa / 2^mantissa_bits), and below the first
// binade 2^(1 - bias) * mantissa / 2^mantissa_bits where the format has subnormals.
struct Format {
  const char* name;
  int bits;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool is_signed;
  bool has_subnormals;  // exponent field 0 holds zero and subnormals
  bool has_infinity;
  NanCode nan;
  std::uint32_t canonical_nan;  // the NaN that the model stores; 0 where there is none
};

inline constexpr Format kE4M3Fn{"e4m3fn", 8, 4, 3, 7, true, true, false, NanCode::kAllOnes, 0x7F};
inline constexpr Format kE4M3Fnuz{"e4m3fnuz", 8, 4, 3, 8, true, true, false, NanCode::kNegativeZero, 0x80};
inline constexpr Format kE2M1{"e2m1", 4, 2, 1, 1, true, true, false, NanCode::kNone, 0};
inline constexpr Format kUe8m0{"ue8m0", 8, 8, 0, 127, false, false, false, NanCode::kAllOnes, 0xFF};
inline constexpr Format kBf16{"bf16", 16, 8, 7, 127, true, true, true, NanCode::kIeee, 0x7FFF};
inline constexpr Format kFp32{"fp32", 32, 8, 23, 127, true, true, true, NanCode::kIeee, 0x7FFFFFFF};

inline constexpr const Format* kFormats[] = {&kE4M3Fn, &kE4M3Fnuz, &kE2M1, &kUe8m0, &kBf16, &kFp32};

}  // namespace kvexact::spec
