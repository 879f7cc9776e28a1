// SPDX-License-Identifier: Apache-2.0
// Codes and scale of a block that lies four consecutive elements a lane over `lanes` aligned lanes.
#pragma once

#include <cstdint>

#include "gpu/primitives/convert.cuh"
#include "gpu/primitives/reduce.cuh"
#include "gpu/primitives/scale.cuh"

namespace kvexact::gpu {

// Four elements rounded to bf16.
struct Bf16x4 {
  std::uint32_t low;
  std::uint32_t high;
};

__device__ inline Bf16x4 RoundBf16(const float4& n) { return {PackBf16(n.x, n.y), PackBf16(n.z, n.w)}; }

struct Quantised {
  std::uint32_t codes;       // four bytes (E4M3) or four nibbles (E2M1), first element lowest
  std::uint32_t scale_byte;  // exponent + 127
};

// The block's absmax.
__device__ inline float AbsMax(const Bf16x4& x, int lanes) {
  const std::uint32_t pair = MaxMagnitudeBf16(x.low, x.high);
  return Bf16Low(MaxOverLanes(MaxMagnitudeOfHalves(pair, pair), lanes));
}

// Compression's E4M3: clamped to +-448; a NaN takes the upper bound, 0x7E.
__device__ inline Quantised QuantiseFp8(const Bf16x4& x, int lanes) {
  const std::uint32_t byte = Fp8ScaleByte<8>(fmaxf(AbsMax(x, lanes), spec::kFp8AmaxFloor));
  const float inverse = Fp8InverseScale(byte);
  return {
      PackE4m3(fminf(__fmul_rn(Bf16Low(x.low), inverse), 448.0F), fminf(__fmul_rn(Bf16High(x.low), inverse), 448.0F),
               fminf(__fmul_rn(Bf16Low(x.high), inverse), 448.0F), fminf(__fmul_rn(Bf16High(x.high), inverse), 448.0F)),
      byte};
}

__device__ inline Quantised QuantiseMxfp4(const Bf16x4& x, int lanes) {
  const std::uint32_t byte = Mxfp4ScaleByte(fmaxf(AbsMax(x, lanes), spec::kMxfp4AmaxFloor));
  const float elements[4] = {Bf16Low(x.low), Bf16High(x.low), Bf16Low(x.high), Bf16High(x.high)};
  constexpr float kNone[4] = {};
  return {PackE2m1(elements, Mxfp4InverseScale(byte), kNone, 0.0F) & 0xFFFFU, byte};
}

}  // namespace kvexact::gpu
