// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/quantise.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/formats/e2m1.h"
#include "reference/formats/e4m3.h"
#include "reference/formats/encode.h"

namespace kvexact {
namespace {

constexpr float kNoClamp = std::numeric_limits<float>::infinity();

QuantiseRule Mxfp4Rule(const Policy& policy) {
  return {&spec::kE2M1,
          policy.e2m1_rounding,
          policy.scale_rounding,
          policy.mxfp4_divisor,
          policy.mxfp4_amax_floor,
          kNoClamp,
          true,
          7};
}

// Scaled by the reciprocal of the scale: exact, but for results below fp32's range.
float Scaled(const QuantiseRule& rule, float x, float factor) {
  const float scaled = x * factor;
  if (scaled > rule.clamp) return rule.clamp;
  if (scaled < -rule.clamp) return -rule.clamp;
  return scaled;
}

}  // namespace

QuantiseRule CompressRule(const spec::Layout& layout, const Policy& policy) {
  if (layout.code_type == spec::CodeType::kE2M1Nibble) return Mxfp4Rule(policy);
  return {&spec::kE4M3Fn,
          policy.e4m3_rounding,
          policy.scale_rounding,
          policy.fp8_divisor,
          policy.fp8_amax_floor,
          policy.fp8_clamp,
          false,
          policy.compress_nan_code};
}

QuantiseRule IndexerQRule(QCodes codes, const Policy& policy) {
  if (codes == QCodes::kE2M1) return Mxfp4Rule(policy);
  const bool fnuz = codes == QCodes::kE4M3Fnuz;
  const spec::Format& format = fnuz ? spec::kE4M3Fnuz : spec::kE4M3Fn;
  return {&format,
          policy.e4m3_rounding,
          policy.scale_rounding,
          fnuz ? policy.fnuz_divisor : policy.fp8_divisor,
          policy.fp8_amax_floor,
          kNoClamp,
          false,
          static_cast<std::uint8_t>(format.canonical_nan)};
}

float BlockAbsmax(const QuantiseRule& rule, std::span<const float> values) {
  // Magnitudes compare as integers; a NaN lies above infinity and counts as zero.
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  std::uint32_t most = std::bit_cast<std::uint32_t>(rule.amax_floor);
  const float* x = values.data();
  for (std::size_t i = 0, n = values.size(); i < n; ++i) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[i]) & 0x7FFFFFFFU;
    const std::uint32_t magnitude = bits > kInfinity ? 0 : bits;
    most = magnitude > most ? magnitude : most;
  }
  return std::bit_cast<float>(most);
}

int BlockExponent(const QuantiseRule& rule, float absmax) {
  const int exponent = ScaleExponent(absmax, rule.divisor, rule.scale_rounding);
  return rule.clamp_exponent ? std::clamp(exponent, -127, 127) : exponent;
}

std::uint8_t EncodeElement(const QuantiseRule& rule, float x, int exponent) {
  std::uint8_t code = 0;
  EncodeBlock(rule, {&x, 1}, exponent, &code);
  return code;
}

void EncodeBlock(const QuantiseRule& rule, std::span<const float> values, int exponent, std::uint8_t* codes) {
  const float factor = PowerOfTwo(-exponent);
  const bool saturating_clamp = !(rule.clamp < 448.0F);
  if (rule.rounding == Rounding::kNearestEven && saturating_clamp) {
    if (rule.format == &spec::kE4M3Fn) {
      EncodeE4M3Fn(values, factor, rule.nan_code, codes);
      return;
    }
    if (rule.format == &spec::kE2M1) {
      for (std::size_t i = 0; i < values.size(); ++i) codes[i] = EncodeE2M1(values[i] * factor, rule.nan_code);
      return;
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float scaled = Scaled(rule, values[i], factor);
    codes[i] = scaled != scaled
                   ? rule.nan_code
                   : static_cast<std::uint8_t>(Encode(*rule.format, scaled, rule.rounding, Overflow::kSaturate));
  }
}

std::uint32_t StoredScale(spec::ScaleType type, int exponent) {
  if (type == spec::ScaleType::kFp32Word) return std::bit_cast<std::uint32_t>(PowerOfTwo(exponent));
  return Ue8m0Byte(exponent);
}

}  // namespace kvexact
