// SPDX-License-Identifier: Apache-2.0
// Rotary embedding of neighbouring pairs (docs/numerics.md).
#pragma once

#include <cstdint>

namespace kvexact::gpu {

// cos and sin of the two pairs of a lane's four columns.
struct Rotation {
  float cos0 = 1.0F;
  float sin0 = 0.0F;
  float cos1 = 1.0F;
  float sin1 = 0.0F;
};

// `pair` is the first pair's index among the rotated ones; `row` the table's row: half cosines, then half sines.
__device__ inline Rotation LoadRotation(const float* row, std::int64_t half, std::int64_t pair) {
  return {__ldg(row + pair), __ldg(row + half + pair), __ldg(row + pair + 1), __ldg(row + half + pair + 1)};
}

// The same where pairs may lie before the first rotated one (`offset` columns from it): those keep cos 1, sin 0.
__device__ inline Rotation LoadRotation(const float* row, std::int64_t half, std::int64_t pair, int offset) {
  Rotation r;
  if (offset >= 0) {
    r.cos0 = __ldg(row + pair);
    r.sin0 = __ldg(row + half + pair);
  }
  if (offset + 2 >= 0 && half > 0) {
    const std::int64_t second = offset >= 0 ? pair + 1 : 0;
    r.cos1 = __ldg(row + second);
    r.sin1 = __ldg(row + half + second);
  }
  return r;
}

__device__ inline void RotatePair(float cosine, float sine, float& even, float& odd) {
  const float e = even;
  even = __fmaf_rn(e, cosine, -__fmul_rn(odd, sine));
  odd = __fmaf_rn(odd, cosine, __fmul_rn(e, sine));
}

__device__ inline float4 Rotate(const Rotation& r, float4 n) {
  RotatePair(r.cos0, r.sin0, n.x, n.y);
  RotatePair(r.cos1, r.sin1, n.z, n.w);
  return n;
}

}  // namespace kvexact::gpu
