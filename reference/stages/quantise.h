// SPDX-License-Identifier: Apache-2.0
// From bf16 values to scale exponent and codes, by integer arithmetic.
#pragma once

#include <cstdint>
#include <span>

#include "reference/numerics/policy.h"
#include "reference/operations/inputs.h"
#include "reference/spec/format.h"
#include "reference/spec/operation.h"

namespace kvexact {

// How one operation quantises a block under a policy.
struct QuantiseRule {
  const spec::Format* format;  // of the codes
  Rounding rounding;
  ScaleRounding scale_rounding;
  ScaleDivisor divisor;
  float amax_floor;
  float clamp;            // scaled values beyond it become it; infinity: no clamp
  bool clamp_exponent;    // to [-127, 127] (MXFP4)
  std::uint8_t nan_code;  // of an element that is NaN after scaling
};

QuantiseRule CompressRule(const spec::Layout& layout, const Policy& policy);
QuantiseRule IndexerQRule(QCodes codes, const Policy& policy);

// Largest magnitude, NaN ignored, raised to the rule's floor. Not NaN.
float BlockAbsmax(const QuantiseRule& rule, std::span<const float> values);

// Exponent e of the scale 2^e for an absmax at or above the floor; kInfiniteExponent for infinity
// unless the rule clamps.
int BlockExponent(const QuantiseRule& rule, float absmax);

// Code of x / 2^e.
std::uint8_t EncodeElement(const QuantiseRule& rule, float x, int exponent);
void EncodeBlock(const QuantiseRule& rule, std::span<const float> values, int exponent, std::uint8_t* codes);

// The scale as it is stored: a UE8M0 byte, or the bits of an fp32.
std::uint32_t StoredScale(spec::ScaleType type, int exponent);

}  // namespace kvexact
