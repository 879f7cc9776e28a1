// SPDX-License-Identifier: Apache-2.0
// The quantisers that blocks.txt and scales.txt name.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "reference/formats/e2m1.h"
#include "reference/formats/e4m3.h"
#include "reference/formats/scale_exponent.h"
#include "reference/spec/strict_numerics.h"

namespace kvexact::golden {

struct Kind {
  ScaleDivisor divisor;
  float floor;                    // of the absmax
  std::uint8_t (*encode)(float);  // of a value that is no NaN
};

inline Kind KindNamed(const std::string& name) {
  if (name == "fp8") return {kDivisor448, spec::kFp8AmaxFloor, [](float x) { return EncodeE4M3Fn(x, 0x7F); }};
  if (name == "fnuz") return {kDivisor224, spec::kFp8AmaxFloor, [](float x) { return EncodeE4M3Fnuz(x, 0x80); }};
  if (name == "mxfp4") return {kDivisor6, spec::kMxfp4AmaxFloor, [](float x) { return EncodeE2M1(x, 7); }};
  throw std::runtime_error("no such kind: " + name);
}

}  // namespace kvexact::golden
