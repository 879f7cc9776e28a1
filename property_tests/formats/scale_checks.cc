// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "property_tests/formats/check.h"
#include "property_tests/formats/mpfr_scale_oracle.h"
#include "reference/formats/scale_exponent.h"

namespace kvexact::format_tests {
namespace {

using Bits = std::span<const std::uint32_t>;

bool IsPositiveFinite(std::uint32_t bits) { return bits > 0 && bits < 0x7F800000U; }

constexpr ScaleRounding kRules[] = {ScaleRounding::kCeil,     ScaleRounding::kFloor,   ScaleRounding::kNearest,
                                    ScaleRounding::kOcpFloor, ScaleRounding::kOcpCeil, ScaleRounding::kOcpEven};
constexpr const char* kRuleNames[] = {"kCeil", "kFloor", "kNearest", "kOcpFloor", "kOcpCeil", "kOcpEven"};

// The definition itself: A <= F * 2^e and not A <= F * 2^(e - 1). Exact in binary64, whose exponents
// reach below 2^-157 * F and above 2^128.
template <const ScaleDivisor& kDivisor, int kLargest>
void Definition(Bits bits, Tally& tally) {
  for (const std::uint32_t b : bits) {
    if (!IsPositiveFinite(b)) continue;
    const auto amax = std::bit_cast<float>(b);
    const int e = ScaleExponent(amax, kDivisor);
    const double bound = std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52) * kLargest;
    tally.Compare(b, 1, amax <= bound ? 1 : 0, "A <= F * 2^e");
    tally.Compare(b, 0, amax <= bound / 2 ? 1 : 0, "A <= F * 2^(e - 1)");
  }
}

template <const ScaleDivisor& kDivisor, int kLargest>
void Ceil(Bits bits, Tally& tally) {
  thread_local MpfrScaleOracle oracle(kLargest, kDivisor.element_mantissa_bits);
  for (const std::uint32_t b : bits) {
    if (!IsPositiveFinite(b)) continue;
    const auto amax = std::bit_cast<float>(b);
    tally.Compare(b, oracle.Exponent(amax, ScaleRounding::kCeil), ScaleExponent(amax, kDivisor), "kCeil");
  }
}

template <const ScaleDivisor& kDivisor, int kLargest, int kMantissaBits>
void EveryRule(Bits bits, Tally& tally) {
  thread_local MpfrScaleOracle oracle(kLargest, kMantissaBits);
  for (const std::uint32_t b : bits) {
    if (!IsPositiveFinite(b)) continue;
    const auto amax = std::bit_cast<float>(b);
    for (const ScaleRounding rule : kRules) {
      tally.Compare(b, oracle.Exponent(amax, rule), ScaleExponent(amax, kDivisor, rule),
                    kRuleNames[static_cast<int>(rule)]);
    }
  }
}

// Exponent of a positive normal fp32 number, rounded up to a power of two.
int CeilLog2(float ratio) { return static_cast<int>((std::bit_cast<std::uint32_t>(ratio) + 0x7FFFFFU) >> 23) - 127; }

// What kernels compute: one fp32 rounding on the way to the exponent. It agrees wherever the ratio is
// normal, that is for A >= F * 2^-126, which holds behind either floor (1e-4, 6 * 2^-126).
template <const ScaleDivisor& kDivisor, int kLargest>
void Fp32Ratio(Bits bits, Tally& tally) {
  constexpr auto kF = static_cast<float>(kLargest);
  constexpr float kReciprocal = 1.0F / kF;
  for (const std::uint32_t b : bits) {
    const auto amax = std::bit_cast<float>(b);
    if (!IsPositiveFinite(b) || amax < kF * 0x1p-126F) continue;
    const int e = ScaleExponent(amax, kDivisor);
    tally.Compare(b, e, CeilLog2(amax * kReciprocal), "A * fp32(1 / F)");
    tally.Compare(b, e, CeilLog2(amax / kF), "A / F");
  }
}

}  // namespace

std::vector<Check> ScaleChecks() {
  return {
      {"scale-448-definition", "e is the smallest integer with A <= 448 * 2^e", Definition<kDivisor448, 448>, 1},
      {"scale-224-definition", "e is the smallest integer with A <= 224 * 2^e", Definition<kDivisor224, 224>, 1},
      {"scale-6-definition", "e is the smallest integer with A <= 6 * 2^e", Definition<kDivisor6, 6>, 1},
      {"scale-448-mpfr", "e = ceil(log2(A / 448)) in MPFR", Ceil<kDivisor448, 448>, 1},
      {"scale-224-mpfr", "e = ceil(log2(A / 224)) in MPFR", Ceil<kDivisor224, 224>, 1},
      {"scale-6-mpfr", "e = ceil(log2(A / 6)) in MPFR", Ceil<kDivisor6, 6>, 1},
      {"scale-448-fp32", "one fp32 product or quotient gives the same e, F = 448", Fp32Ratio<kDivisor448, 448>, 1},
      {"scale-224-fp32", "one fp32 product or quotient gives the same e, F = 224", Fp32Ratio<kDivisor224, 224>, 1},
      {"scale-6-fp32", "one fp32 product or quotient gives the same e, F = 6", Fp32Ratio<kDivisor6, 6>, 1},
      {"scale-448-rules-mpfr", "every scale rule, F = 448, equals MPFR", EveryRule<kDivisor448, 448, 3>, 31},
      {"scale-224-rules-mpfr", "every scale rule, F = 224, equals MPFR", EveryRule<kDivisor224, 224, 3>, 31},
      {"scale-6-rules-mpfr", "every scale rule, F = 6, equals MPFR", EveryRule<kDivisor6, 6, 1>, 31},
  };
}

}  // namespace kvexact::format_tests
