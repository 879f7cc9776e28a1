// SPDX-License-Identifier: Apache-2.0
// The power-of-two scale of a block: the smallest e with amax <= F * 2^e, by integer arithmetic on the bits.
#pragma once

#include <cstdint>

#include "reference/spec/strict_numerics.h"

namespace kvexact::gpu {

// e + 127 for F = 1.75 * 2^kExponent (448, 224), `amax` >= the FP8 floor: adding the complement of F's mantissa carries
// into the exponent field exactly where amax's mantissa is larger. An infinite amax gives 255.
template <int kExponent>
__device__ inline std::uint32_t Fp8ScaleByte(float amax) {
  const std::uint32_t bits = __float_as_uint(amax);
  const std::uint32_t byte = ((bits + 0x1FFFFFU) >> 23) - kExponent;
  return bits == 0x7F800000U ? 255U : byte;
}

// 2^(127 - byte), the factor that scales a block: 0 for an infinite scale. FP8 bytes lie in [105, 248] or are 255.
__device__ inline float Fp8InverseScale(std::uint32_t byte) {
  return byte == 255U ? 0.0F : __uint_as_float((254U - byte) << 23);
}

// e + 127 for F = 6, `amax` >= the MXFP4 floor; an infinite amax gives 254 (the clamp of the exponent).
__device__ inline std::uint32_t Mxfp4ScaleByte(float amax) {
  const std::uint32_t bits = __float_as_uint(amax);
  const std::uint32_t byte = ((bits + 0x3FFFFFU) >> 23) - 2U;
  return bits == 0x7F800000U ? 254U : byte;
}

// 2^(127 - byte) for byte in [1, 254]; 2^-127 is subnormal.
__device__ inline float Mxfp4InverseScale(std::uint32_t byte) {
  return __uint_as_float(byte == 254U ? 0x00400000U : (254U - byte) << 23);
}

}  // namespace kvexact::gpu
