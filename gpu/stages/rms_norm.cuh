// SPDX-License-Identifier: Apache-2.0
// RMSNorm over the head (docs/numerics.md). A lane holds four consecutive columns: one chain.
#pragma once

#include <cstdint>

#include "gpu/primitives/convert.cuh"
#include "gpu/primitives/reduce.cuh"
#include "gpu/stages/arguments.cuh"

namespace kvexact::gpu {

__device__ inline float SquareChain(const float4& c) {
  float a = __fmul_rn(c.x, c.x);
  a = __fmaf_rn(c.y, c.y, a);
  a = __fmaf_rn(c.z, c.z, a);
  return __fmaf_rn(c.w, c.w, a);
}

// 1 / sqrt(sum / kHead + eps). kHead is a power of two: multiplying by its inverse is the division.
template <class Arithmetic, int kHead>
__device__ inline float ReciprocalRms(float sum, float eps) {
  static_assert((kHead & (kHead - 1)) == 0);
  return Arithmetic::ReciprocalRoot(__fadd_rn(__fmul_rn(sum, 1.0F / kHead), eps));
}

// Four consecutive entries of the norm's weight from `column`, a multiple of 4.
__device__ inline float4 LoadNormWeight(const CompressArguments& arguments, int column) {
  float4 w;
  if (arguments.norm_weight_bf16) {
    const auto* p = static_cast<const std::uint16_t*>(arguments.norm_weight) + column;
    w.x = __uint_as_float(std::uint32_t{__ldg(p)} << 16);
    w.y = __uint_as_float(std::uint32_t{__ldg(p + 1)} << 16);
    w.z = __uint_as_float(std::uint32_t{__ldg(p + 2)} << 16);
    w.w = __uint_as_float(std::uint32_t{__ldg(p + 3)} << 16);
  } else {
    const auto* p = static_cast<const float*>(arguments.norm_weight) + column;
    w = make_float4(__ldg(p), __ldg(p + 1), __ldg(p + 2), __ldg(p + 3));
  }
  return w;
}

__device__ inline float4 Normalise(const float4& c, float rrms, const float4& w) {
  return make_float4(__fmul_rn(__fmul_rn(c.x, rrms), w.x), __fmul_rn(__fmul_rn(c.y, rrms), w.y),
                     __fmul_rn(__fmul_rn(c.z, rrms), w.z), __fmul_rn(__fmul_rn(c.w, rrms), w.w));
}

}  // namespace kvexact::gpu
