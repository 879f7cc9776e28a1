// SPDX-License-Identifier: Apache-2.0
// All blocks of a token (of Q: of a head), from fp32 values to codes and stored scales.
#pragma once

#include <cstdint>
#include <span>

#include "reference/numerics/policy.h"
#include "reference/numerics/window.h"
#include "reference/stages/quantise.h"
#include "reference/stages/stored_token.h"

namespace kvexact {

struct Stages;

// What is quantised, and how.
struct QuantiseTask {
  QuantiseRule rule;
  spec::ScaleType scale_type;
  bool bf16_first;                   // values are rounded to bf16 before quantisation
  int block;                         // values that share a scale
  std::span<const float> values;     // a multiple of `block`
  std::span<const float> unrotated;  // the same before RoPE
};

struct QuantisedValues {
  std::uint8_t codes[kMaxHeadDim];
  float scale[StoredToken::kMaxScales];           // 2^e
  std::uint32_t stored[StoredToken::kMaxScales];  // as StoredScale gives it
};

// values[i] rounded to bf16, widened again.
void RoundInputToBf16(std::span<const float> values, float* rounded);

// Block by block: bf16, absmax, exponent, codes, stored scale.
void QuantiseBlocks(const Stages& stages, const QuantiseTask& task, QuantisedValues& out);

// bf16[i] = values[i] rounded to bf16.
void RoundRopeToBf16(std::span<const float> values, std::uint16_t* bf16);

}  // namespace kvexact
