// SPDX-License-Identifier: Apache-2.0
// The compression operations for any ratio, state block, stride and layout; and the two stages of the split path.
#pragma once

#include <cstdint>

#include "gpu/primitives/arithmetic.cuh"
#include "gpu/stages/gather_any.cuh"
#include "gpu/stages/locate.cuh"
#include "gpu/stages/paged_store.cuh"
#include "gpu/stages/rms_norm.cuh"
#include "gpu/stages/rope.cuh"
#include "gpu/stages/shapes.cuh"
#include "gpu/stages/softmax_compress.cuh"

namespace kvexact::gpu {

// RMSNorm, RoPE and store of one token's compressed columns, four a thread of the first kHead / 4; the whole block
// together.
template <class Arithmetic, int kHead>
__device__ inline void FinishAny(const CompressArguments& arguments, const Token& token, const float4& c,
                                 float* group_sums) {
  const int thread = static_cast<int>(threadIdx.x);
  const bool active = thread < kHead / 4;
  const int column = active ? thread * 4 : 0;
  if (active) {
    const float group = FoldHeadGroup(SquareChain(c));
    if (thread % 32 == 0) group_sums[thread / 32] = group;
  }
  __syncthreads();
  if (active) {
    float sum = group_sums[0];
    if constexpr (kHead == kSparseHead) {
      sum = __fadd_rn(__fadd_rn(group_sums[0], group_sums[1]), __fadd_rn(group_sums[2], group_sums[3]));
    }
    const float rrms = ReciprocalRms<Arithmetic, kHead>(sum, arguments.eps);
    const float4 n = Normalise(c, rrms, LoadNormWeight(arguments, column));
    const float* table =
        arguments.cos_sin + token.position / arguments.ratio * arguments.ratio * arguments.cos_sin_stride;
    const Rotation rotation = LoadRotation(table, arguments.rope_dim / 2, (column - (kHead - arguments.rope_dim)) / 2,
                                           column - (kHead - static_cast<int>(arguments.rope_dim)));
    StoreAny(Place(arguments, arguments.placement.layout, token.kv_slot), arguments, column, n, rotation);
  }
  __syncthreads();  // group_sums is free again
}

// token_step blocks of threads share the candidates.
template <class Arithmetic, int kHead>
__global__ void __launch_bounds__(kAnyThreads) CompressAny(const CompressArguments arguments) {
  __shared__ AnyScratch scratch;
  __shared__ float4 means[kHead / 4];
  __shared__ float group_sums[kHead / spec::kHeadGroup];
  __shared__ Token slots[kAnyThreads / 32][32];
  const auto resolve = [](const Token& token) { return token; };
  TokenQueue<true, 1, Token, decltype(resolve)> queue(arguments, blockIdx.x, arguments.ratio, slots[threadIdx.x / 32],
                                                      resolve);
  Token token;
  while (queue.Next(token)) {
    for (int group = 0; group < kHead / spec::kHeadGroup; ++group) {
      const float4 c = MeanOfGroup<Arithmetic>(arguments, token, kHead, group, scratch);
      if (threadIdx.x < 32) means[group * 32 + threadIdx.x] = c;
    }
    __syncthreads();
    FinishAny<Arithmetic, kHead>(arguments, token, means[threadIdx.x % (kHead / 4)], group_sums);
  }
}

// gather_split: token_step groups of four blocks share the candidates, a block a quarter of the head.
template <class Arithmetic>
__global__ void __launch_bounds__(kAnyThreads) GatherSplitAny(const CompressArguments arguments) {
  constexpr int kGroups = kSparseHead / spec::kHeadGroup;
  __shared__ AnyScratch scratch;
  __shared__ Token slots[kAnyThreads / 32][32];
  const int group = static_cast<int>(blockIdx.x % kGroups);
  const auto resolve = [](const Token& token) { return token; };
  TokenQueue<false, 1, Token, decltype(resolve)> queue(arguments, blockIdx.x / kGroups, arguments.ratio,
                                                       slots[threadIdx.x / 32], resolve);
  Token token;
  while (queue.Next(token)) {
    const float4 c = MeanOfGroup<Arithmetic>(arguments, token, kSparseHead, group, scratch);
    if (threadIdx.x < 32) {
      float* row =
          arguments.scratch + token.index * arguments.scratch_stride + group * spec::kHeadGroup + threadIdx.x * 4;
      const auto stored = [](float x) { return x != x ? __uint_as_float(0x7FFFFFFFU) : x; };
      row[0] = stored(c.x);
      row[1] = stored(c.y);
      row[2] = stored(c.z);
      row[3] = stored(c.w);
    }
  }
}

inline constexpr int kFinalizeThreads = 128;

// finalize: token_step blocks of threads share the candidates.
template <class Arithmetic>
__global__ void __launch_bounds__(kFinalizeThreads) Finalize(const CompressArguments arguments) {
  __shared__ float group_sums[kSparseHead / spec::kHeadGroup];
  __shared__ Token slots[kFinalizeThreads / 32][32];
  const auto resolve = [](const Token& token) { return token; };
  TokenQueue<true, 1, Token, decltype(resolve)> queue(arguments, blockIdx.x, arguments.ratio, slots[threadIdx.x / 32],
                                                      resolve);
  Token token;
  while (queue.Next(token)) {
    const float* row = arguments.scratch + token.index * arguments.scratch_stride + threadIdx.x * 4;
    FinishAny<Arithmetic, kSparseHead>(arguments, token, LoadAny(row, false), group_sums);
  }
}

}  // namespace kvexact::gpu
