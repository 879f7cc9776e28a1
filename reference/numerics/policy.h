// SPDX-License-Identifier: Apache-2.0
// What public implementations do on purpose in different ways, as one explicit value.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "reference/formats/rounding.h"
#include "reference/formats/scale_exponent.h"
#include "reference/spec/strict_numerics.h"

namespace kvexact {

// What the judge expects of a token whose window holds a NaN or infinity, or whose norm overflows.
enum class NonFiniteRule : std::uint8_t {
  kSeed,      // the values that the seed kernels store on an H200
  kUnjudged,  // its elements must be written, nothing else may change, their values are open
};

struct Policy {
  const char* name = "seed";
  const char* summary = "";
  NonFiniteRule nonfinite = NonFiniteRule::kSeed;
  ScaleRounding scale_rounding = ScaleRounding::kCeil;
  Rounding e4m3_rounding = Rounding::kNearestEven;
  Rounding e2m1_rounding = Rounding::kNearestEven;
  ScaleDivisor fp8_divisor = kDivisor448;
  ScaleDivisor fnuz_divisor = kDivisor224;
  ScaleDivisor mxfp4_divisor = kDivisor6;
  float fp8_clamp = 448.0F;  // compression clamps scaled values to it before encoding
  float fp8_amax_floor = spec::kFp8AmaxFloor;
  float mxfp4_amax_floor = spec::kMxfp4AmaxFloor;
  bool bf16_before_quantise = true;
  std::uint8_t compress_nan_code = 0x7E;  // E4M3FN code of a NaN that passed the clamp
};

std::span<const Policy> Policies();

// The row of that name, or null.
const Policy* FindPolicy(std::string_view name);
const Policy& SeedPolicy();

}  // namespace kvexact
