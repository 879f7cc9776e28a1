// SPDX-License-Identifier: Apache-2.0
// Reductions over the lanes of a warp; every lane gets the result.
#pragma once

#include <cstdint>

#include "gpu/primitives/convert.cuh"
#include "reference/spec/strict_numerics.h"

namespace kvexact::gpu {

// The fold of docs/numerics.md over the 32 chains of a head group: distance 16 first, then 8, 4, 2, 1. Addition
// commutes, so that both lanes of an exchange get the same sum.
__device__ inline float FoldHeadGroup(float chain) {
  static_assert(spec::kHeadGroup / spec::kHeadRun == 32, "one chain a lane");
#pragma unroll
  for (int distance = 16; distance >= 1; distance /= 2) {
    chain = __fadd_rn(chain, __shfl_xor_sync(0xFFFFFFFFU, chain, distance));
  }
  return chain;
}

// Maximum of each half over aligned groups of `lanes` lanes (a power of two).
__device__ inline std::uint32_t MaxOverLanes(std::uint32_t pair, int lanes) {
  for (int distance = lanes / 2; distance >= 1; distance /= 2) {
    pair = MaxBf16(pair, __shfl_xor_sync(0xFFFFFFFFU, pair, distance));
  }
  return pair;
}

__device__ inline std::uint32_t MaxOrNanOverLanes(std::uint32_t pair, int lanes) {
  for (int distance = lanes / 2; distance >= 1; distance /= 2) {
    pair = MaxOrNanBf16(pair, __shfl_xor_sync(0xFFFFFFFFU, pair, distance));
  }
  return pair;
}

// The larger magnitude of the halves of `a` in the low half, the same of `b` in the high half.
__device__ inline std::uint32_t MaxMagnitudeOfHalves(std::uint32_t a, std::uint32_t b) {
  return AbsBf16(MaxMagnitudeBf16(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632)));
}

// The same, NaN if either is NaN.
__device__ inline std::uint32_t MaxMagnitudeOrNanOfHalves(std::uint32_t a, std::uint32_t b) {
  return AbsBf16(MaxMagnitudeOrNanBf16(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632)));
}

}  // namespace kvexact::gpu
