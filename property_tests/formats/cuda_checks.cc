// SPDX-License-Identifier: Apache-2.0
#include "property_tests/formats/check.h"
#include "property_tests/formats/cuda_conversions.h"
#include "reference/formats/bf16.h"
#include "reference/formats/e2m1.h"
#include "reference/formats/e4m3.h"
#include "reference/formats/encode.h"
#include "reference/spec/format.h"

namespace kvexact::format_tests {
namespace {

using Bits = std::span<const std::uint32_t>;

void E4M3(Bits bits, Tally& tally) {
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    const std::uint8_t expected = CudaE4M3(x);
    tally.Compare(b, expected, Encode(spec::kE4M3Fn, x, Rounding::kNearestEven, Overflow::kSaturate), "Encode");
    tally.Compare(b, expected, EncodeE4M3Fn(x, 0x7F), "EncodeE4M3Fn");
  }
}

// An overflow keeps its sign there (0xFF for the negative) and gives the canonical NaN here.
void E4M3NoSaturation(Bits bits, Tally& tally) {
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    const std::uint8_t theirs = CudaE4M3NoSaturation(x);
    tally.Compare(b, theirs == 0xFF ? 0x7F : theirs, Encode(spec::kE4M3Fn, x, Rounding::kNearestEven, Overflow::kToNan),
                  "Encode");
  }
}

void E2M1(Bits bits, Tally& tally) {
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    const std::uint8_t expected = CudaE2M1(x);
    tally.Compare(b, expected, Encode(spec::kE2M1, x, Rounding::kNearestEven, Overflow::kSaturate), "Encode");
    tally.Compare(b, expected, EncodeE2M1(x, 7), "EncodeE2M1");
    tally.Compare(b, CudaE2M1TowardZero(x), Encode(spec::kE2M1, x, Rounding::kTowardZero, Overflow::kSaturate),
                  "kTowardZero");
  }
}

void Bf16(Bits bits, Tally& tally) {
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    const std::uint16_t expected = CudaBf16(x);
    tally.Compare(b, expected, Encode(spec::kBf16, x, Rounding::kNearestEven, Overflow::kToInfinity), "Encode");
    tally.Compare(b, expected, RoundToBf16(x), "RoundToBf16");
    tally.Compare(b, CudaBf16TowardZero(x), Encode(spec::kBf16, x, Rounding::kTowardZero, Overflow::kToInfinity),
                  "kTowardZero");
  }
}

void Ue8m0(Bits bits, Tally& tally) {
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    for (const bool saturate : {true, false}) {
      const Overflow overflow = saturate ? Overflow::kSaturate : Overflow::kToNan;
      tally.Compare(b, CudaUe8m0TowardZero(x, saturate), Encode(spec::kUe8m0, x, Rounding::kTowardZero, overflow),
                    "kTowardZero");
      tally.Compare(b, CudaUe8m0AwayFromZero(x, saturate), Encode(spec::kUe8m0, x, Rounding::kAwayFromZero, overflow),
                    "kAwayFromZero");
    }
  }
}

}  // namespace

std::vector<Check> CudaChecks() {
  return {
      {"e4m3fn-cuda", "E4M3FN, saturating, generic and fast, equals cuda_fp8.h", E4M3, 1},
      {"e4m3fn-nosat-cuda", "E4M3FN, overflow to NaN, equals cuda_fp8.h but for the sign of the NaN", E4M3NoSaturation,
       1},
      {"e2m1-cuda", "E2M1, nearest even (generic and fast) and towards zero, equals cuda_fp4.h", E2M1, 1},
      {"bf16-cuda", "bf16, nearest even (generic and fast) and towards zero, equals cuda_bf16.h", Bf16, 1},
      {"ue8m0-cuda", "UE8M0, towards and away from zero, saturating and not, equals cuda_fp8.h", Ue8m0, 1},
  };
}

}  // namespace kvexact::format_tests
