// SPDX-License-Identifier: Apache-2.0
// indexer_q_fp8 and indexer_q_mxfp4, head 128: any number of heads, rotated columns and table type.
#pragma once

#include <cstdint>

#include "gpu/primitives/convert.cuh"
#include "gpu/primitives/memory.cuh"
#include "gpu/primitives/reduce.cuh"
#include "gpu/primitives/scale.cuh"
#include "gpu/stages/fold_weights.cuh"
#include "gpu/stages/indexer_q_arguments.cuh"
#include "gpu/stages/rope.cuh"

namespace kvexact::gpu {

inline constexpr int kQAnyThreads = 256;
inline constexpr int kQHeads = 8;  // heads a warp: four turns of two heads, eight elements a lane
inline constexpr int kQTurns = kQHeads / 2;

__device__ inline float LoadTable(const IndexerQArguments& arguments, std::int64_t index) {
  if (arguments.cos_sin_bf16) {
    return __uint_as_float(std::uint32_t{__ldg(static_cast<const std::uint16_t*>(arguments.cos_sin) + index)} << 16);
  }
  return __ldg(static_cast<const float*>(arguments.cos_sin) + index);
}

// Eight bf16 values, at any alignment that they may have.
__device__ inline uint4 LoadEight(const std::uint16_t* p, bool aligned) {
  if (aligned) return LoadStream(reinterpret_cast<const uint4*>(p));
  const auto pair = [&](int i) { return std::uint32_t{__ldg(p + i)} | std::uint32_t{__ldg(p + i + 1)} << 16; };
  return make_uint4(pair(0), pair(2), pair(4), pair(6));
}

__device__ inline void StoreWord(std::uint8_t* to, std::uint32_t value, bool aligned) {
  if (aligned) {
    *reinterpret_cast<std::uint32_t*>(to) = value;
  } else {
    for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

// One warp eight heads of a token.
template <QFormat kFormat>
__global__ void __launch_bounds__(kQAnyThreads) IndexerQAny(const IndexerQArguments arguments) {
  constexpr bool kMxfp4 = kFormat == QFormat::kE2m1;
  constexpr int kHead = 128;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int part = lane & 15;  // eight columns of the head
  const int half = lane >> 4;  // head within a turn
  const std::int64_t worker = std::int64_t{blockIdx.x} * (kQAnyThreads / 32) + threadIdx.x / 32;
  const std::int64_t token = arguments.groups_shift >= 0 ? worker >> arguments.groups_shift : worker / arguments.groups;
  if (token >= arguments.tokens) return;
  const std::int64_t first_head = (worker - token * arguments.groups) * kQHeads;

  uint4 x[kQTurns];
  const std::uint16_t* q = arguments.q + token * arguments.q_token_stride + part * 8;
#pragma unroll
  for (int t = 0; t < kQTurns; ++t) {
    const std::int64_t head = first_head + t * 2 + half;
    if (head < arguments.heads) {
      x[t] = LoadEight(q + head * arguments.q_head_stride, arguments.q_aligned);
    } else {
      x[t] = make_uint4(0, 0, 0, 0);
    }
  }
  // Lane (part = t, half) folds the weight of head t * 2 + half.
  const std::int64_t folded_head = first_head + part * 2 + half;
  const bool folds = part < kQTurns && folded_head < arguments.heads;
  RawFloat raw_weight{};
  if (folds) raw_weight = LoadWeight(arguments, token, folded_head);
  const int first_rotated = kHead - static_cast<int>(arguments.rope_dim);
  const int rope_half = (kHead - first_rotated) / 2;
  float cosine[4];
  float sine[4];
  if (part * 8 + 7 >= first_rotated) {
    const std::int64_t row = __ldg(arguments.positions + token) * arguments.cos_sin_stride;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int pair = (part * 8 + i * 2 - first_rotated) / 2;
      cosine[i] = pair >= 0 ? LoadTable(arguments, row + pair) : 1.0F;
      sine[i] = pair >= 0 ? LoadTable(arguments, row + rope_half + pair) : 0.0F;
    }
  }

  std::uint32_t kept = 0;  // scale byte that this lane stores or folds
#pragma unroll
  for (int t = 0; t < kQTurns; ++t) {
    std::uint32_t v[4] = {x[t].x, x[t].y, x[t].z, x[t].w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (part * 8 + i * 2 >= first_rotated) {
        float even = Bf16Low(v[i]);
        float odd = Bf16High(v[i]);
        RotatePair(cosine[i], sine[i], even, odd);
        v[i] = PackBf16(even, odd);
      }
    }
    const std::uint32_t largest = MaxMagnitudeBf16(MaxMagnitudeBf16(v[0], v[1]), MaxMagnitudeBf16(v[2], v[3]));
    const std::int64_t head = first_head + t * 2 + half;
    const std::int64_t row = token * arguments.heads + head;
    if constexpr (kMxfp4) {
      const std::uint32_t byte = Mxfp4ScaleByte(
          fmaxf(Bf16Low(MaxOverLanes(MaxMagnitudeOfHalves(largest, largest), 4)), spec::kMxfp4AmaxFloor));
      if ((lane & 3) == t) kept = byte;
      const float inverse = Mxfp4InverseScale(byte);
      const float low[4] = {Bf16Low(v[0]), Bf16High(v[0]), Bf16Low(v[1]), Bf16High(v[1])};
      const float high[4] = {Bf16Low(v[2]), Bf16High(v[2]), Bf16Low(v[3]), Bf16High(v[3])};
      const std::uint32_t codes = PackE2m1(low, inverse, high, inverse);
      if (head < arguments.heads)
        StoreWord(arguments.codes + row * (kHead / 2) + part * 4, codes, arguments.codes_aligned);
    } else {
      constexpr int kExponent = kFormat == QFormat::kE4m3Fn ? 8 : 7;
      const std::uint32_t byte = Fp8ScaleByte<kExponent>(
          fmaxf(Bf16Low(MaxOverLanes(MaxMagnitudeOfHalves(largest, largest), 16)), spec::kFp8AmaxFloor));
      if (part == t) kept = byte;
      const float inverse = Fp8InverseScale(byte);
      std::uint32_t pair[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float low = __fmul_rn(Bf16Low(v[i]), inverse);
        const float high = __fmul_rn(Bf16High(v[i]), inverse);
        pair[i] = kFormat == QFormat::kE4m3Fn ? PackE4m3(low, high) : E4m3FnuzInteger(low) | E4m3FnuzInteger(high) << 8;
      }
      if (head < arguments.heads) {
        std::uint8_t* to = arguments.codes + row * kHead + part * 8;
        StoreWord(to, pair[0] | pair[1] << 16, arguments.codes_aligned);
        StoreWord(to + 4, pair[2] | pair[3] << 16, arguments.codes_aligned);
      }
    }
  }

  float weight = ValueOf(raw_weight, arguments.weights_bf16);
  if constexpr (kMxfp4) {
    const std::int64_t head = first_head + (lane & 3) * 2 + half;
    if (head < arguments.heads) {
      arguments.scales[(token * arguments.heads + head) * 4 + part / 4] = static_cast<std::uint8_t>(kept);
    }
  } else {
    weight = __fmul_rn(weight, __uint_as_float(kept << 23));  // 2^e; byte 255 is infinity
  }
  if (folds) StoreFolded(arguments, token, folded_head, weight);
}

}  // namespace kvexact::gpu
