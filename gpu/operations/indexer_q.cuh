// SPDX-License-Identifier: Apache-2.0
// indexer_q_fp8 and indexer_q_mxfp4 at their production shape: head 128, the last 64 columns rotate, an fp32 table, a multiple
// of 2 * kTurns heads.
#pragma once

#include <cstdint>

#include "gpu/primitives/convert.cuh"
#include "gpu/primitives/memory.cuh"
#include "gpu/primitives/reduce.cuh"
#include "gpu/primitives/scale.cuh"
#include "gpu/stages/fold_weights.cuh"
#include "gpu/stages/indexer_q_arguments.cuh"
#include "gpu/stages/rope.cuh"
#include "gpu/stages/shapes.cuh"

namespace kvexact::gpu {

// Codes of four elements that do not rotate (low half) and four that do, and the scale bytes of their blocks.
struct Mxfp4Pair {
  std::uint32_t codes;
  std::uint32_t low_byte;
  std::uint32_t high_byte;
};

// Any values. Blocks of 32 are eight lanes.
__device__ __noinline__ inline Mxfp4Pair QuantiseMxfp4Any(uint2 nope, uint2 rope) {
  const std::uint32_t amax =
      MaxOverLanes(MaxOfHalves(MaxMagnitudeBf16(nope.x, nope.y), MaxMagnitudeBf16(rope.x, rope.y)), 8);
  const std::uint32_t low_byte = Mxfp4ScaleByte(fmaxf(Bf16Low(amax), spec::kMxfp4AmaxFloor));
  const std::uint32_t high_byte = Mxfp4ScaleByte(fmaxf(Bf16High(amax), spec::kMxfp4AmaxFloor));
  const float low[4] = {Bf16Low(nope.x), Bf16High(nope.x), Bf16Low(nope.y), Bf16High(nope.y)};
  const float high[4] = {Bf16Low(rope.x), Bf16High(rope.x), Bf16Low(rope.y), Bf16High(rope.y)};
  return {PackE2m1(low, Mxfp4InverseScale(low_byte), high, Mxfp4InverseScale(high_byte)), low_byte, high_byte};
}

// Both blocks' absmax side by side, the floor included; NaN where an element is NaN.
__device__ inline std::uint32_t Mxfp4AbsMaxPair(const uint2& nope, const uint2& rope) {
  const std::uint32_t low = MaxMagnitudeOrNanBf16(nope.x, nope.y);
  const std::uint32_t high = MaxMagnitudeOrNanBf16(rope.x, rope.y);
  const std::uint32_t lane_max = MaxOrNanBf16(__byte_perm(low, high, 0x5410), __byte_perm(low, high, 0x7632));
  return MaxOrNanBf16(MaxOrNanOverLanes(lane_max, 8), 0x01C001C0U);  // the floor, 6 * 2^-126, is a bf16
}

// Whether one of the two is NaN, infinite or at least 2^110. Below that, bytes are below 240 and 2^(127 - byte - 14) is a normal
// bf16.
__device__ inline bool IsSpecial(std::uint32_t amax_pair) {
  constexpr std::uint32_t kHuge = 0x7680;  // 2^110
  return ((amax_pair + (0x8000 - kHuge) * 0x00010001U) & 0x80008000U) != 0;
}

// The same as QuantiseMxfp4Any for blocks that are not special.
__device__ inline Mxfp4Pair QuantiseMxfp4Finite(const uint2& nope, const uint2& rope, std::uint32_t amax_pair) {
  const std::uint32_t rounded = (amax_pair + 0x003F003FU) & 0xFF80FF80U;  // (byte + 2) << 7 in each half
  const std::uint32_t units = 0x79007900U - rounded;                      // (127 + 127 - byte - 14) << 7
  return {PackFiniteE2m1(nope, rope, units << 16, units & 0xFFFF0000U), (rounded >> 7 & 0x1FFU) - 2U, (rounded >> 23) - 2U};
}

inline constexpr int kQThreads = 256;
inline constexpr int kQFewThreads = 32;

// One warp 2 * kTurns heads of a token, two a turn. A lane holds four columns that do not rotate and, 64 further, four that
// do: all lanes do the same work.
template <QFormat kFormat, int kTurns, int kThreads>
__global__ void __launch_bounds__(kThreads) IndexerQ(const IndexerQArguments arguments) {
  constexpr bool kMxfp4 = kFormat == QFormat::kE2m1;
  constexpr int kHead = kIndexerHead;
  constexpr int kNope = kHead - kRopeDim;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int part = lane & 15;
  const int half = lane >> 4;  // head within a turn
  const std::int64_t worker = std::int64_t{blockIdx.x} * (kThreads / 32) + threadIdx.x / 32;
  const std::int64_t token = arguments.groups_shift >= 0 ? worker >> arguments.groups_shift : worker / arguments.groups;
  if (token >= arguments.tokens) return;
  const std::int64_t first_head = (worker - token * arguments.groups) * (2 * kTurns);

  const float* table = static_cast<const float*>(arguments.cos_sin) + part * 2 +
                       LoadNow(arguments.positions + token) * arguments.cos_sin_stride;
  uint2 nope[kTurns];
  uint2 rope[kTurns];
  {
    const std::uint16_t* q =
        arguments.q + token * arguments.q_token_stride + (first_head + half) * arguments.q_head_stride + part * 4;
#pragma unroll
    for (int t = 0; t < kTurns; ++t) {
      nope[t] = LoadStream(reinterpret_cast<const uint2*>(q + 2 * t * arguments.q_head_stride));
      rope[t] = LoadStream(reinterpret_cast<const uint2*>(q + 2 * t * arguments.q_head_stride + kNope));
    }
  }
  // Lane (part = t, half) folds the weight of head 2 * t + half.
  const bool folds = part < kTurns;
  float weight = 0.0F;
  if (folds) weight = LoadWeight(arguments, token, first_head + part * 2 + half);
  const float2 cosines = __ldg(reinterpret_cast<const float2*>(table));
  const float2 sines = __ldg(reinterpret_cast<const float2*>(table + kRopeDim / 2));
  const Rotation rotation = {cosines.x, sines.x, cosines.y, sines.y};

  const std::int64_t row = token * arguments.heads + first_head + half;  // of the first turn
  std::uint32_t kept = 0;                                                // scale byte that this lane stores or folds
  std::uint32_t lane_max[kTurns];
#pragma unroll
  for (int t = 0; t < kTurns; ++t) {
    const float4 turned = Rotate(rotation, make_float4(Bf16Low(rope[t].x), Bf16High(rope[t].x), Bf16Low(rope[t].y),
                                                       Bf16High(rope[t].y)));
    rope[t] = make_uint2(PackBf16(turned.x, turned.y), PackBf16(turned.z, turned.w));
    lane_max[t] = MaxBf16(MaxMagnitudeBf16(nope[t].x, nope[t].y), MaxMagnitudeBf16(rope[t].x, rope[t].y));
  }

  if constexpr (kMxfp4) {
    const auto store = [&](int t, const Mxfp4Pair& q) {
      if ((lane & 3) == t) kept = (lane & 4) != 0 ? q.high_byte : q.low_byte;
      auto* out = reinterpret_cast<std::uint16_t*>(arguments.codes + row * (kHead / 2)) + part + t * kHead / 2;
      out[0] = static_cast<std::uint16_t>(q.codes);
      out[kNope / 4] = static_cast<std::uint16_t>(q.codes >> 16);
    };
    std::uint32_t amax[kTurns];
    bool special = KVEXACT_HAS_E2M1 != 0;
#pragma unroll
    for (int t = 0; t < kTurns; ++t) {
      amax[t] = Mxfp4AbsMaxPair(nope[t], rope[t]);
      special = special || IsSpecial(amax[t]);
    }
    if (__any_sync(0xFFFFFFFFU, special)) {
#pragma unroll
      for (int t = 0; t < kTurns; ++t) store(t, QuantiseMxfp4Any(nope[t], rope[t]));
    } else {
#pragma unroll
      for (int t = 0; t < kTurns; ++t) store(t, QuantiseMxfp4Finite(nope[t], rope[t], amax[t]));
    }
    if ((lane & 3) < kTurns) {
      const int block = (lane & 4) / 2 + part / 8;
      arguments.scales[(row + (lane & 3) * 2) * 4 + block] = static_cast<std::uint8_t>(kept);
    }
  } else {
    // Two turns share an exchange: one in the low half, one in the high half.
    constexpr int kExponent = kFormat == QFormat::kE4m3Fn ? 8 : 7;
    constexpr int kStep = kTurns > 1 ? 2 : 1;
#pragma unroll
    for (int t = 0; t < kTurns; t += kStep) {
      const int u = t + kStep - 1;
      const std::uint32_t amax = MaxOverLanes(MaxOfHalves(lane_max[t], lane_max[u]), 16);
#pragma unroll
      for (int v = t; v < t + kStep; ++v) {
        const float block_max = fmaxf(v == t ? Bf16Low(amax) : Bf16High(amax), spec::kFp8AmaxFloor);
        const std::uint32_t byte = Fp8ScaleByte<kExponent>(block_max);
        if (part == v) kept = byte;
        // Powers of two: exact, or so small that the code is a zero of the same sign.
        const std::uint32_t inverse = PackBf16(Fp8InverseScale(byte), Fp8InverseScale(byte));
        const std::uint32_t scaled[4] = {ScaleBf16(nope[v].x, inverse), ScaleBf16(nope[v].y, inverse),
                                         ScaleBf16(rope[v].x, inverse), ScaleBf16(rope[v].y, inverse)};
        std::uint32_t pair[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float low = Bf16Low(scaled[i]);
          const float high = Bf16High(scaled[i]);
          pair[i] = kFormat == QFormat::kE4m3Fn ? PackE4m3(low, high) : E4m3FnuzInteger(low) | E4m3FnuzInteger(high) << 8;
        }
        auto* out = reinterpret_cast<std::uint32_t*>(arguments.codes + row * kHead) + part + v * kHead / 2;
        out[0] = pair[0] | pair[1] << 16;
        out[kNope / 4] = pair[2] | pair[3] << 16;
      }
    }
    weight = __fmul_rn(weight, __uint_as_float(kept << 23));  // 2^e; byte 255 is infinity
  }
  if (folds) StoreFolded(arguments, token, first_head + part * 2 + half, weight);
}

}  // namespace kvexact::gpu
