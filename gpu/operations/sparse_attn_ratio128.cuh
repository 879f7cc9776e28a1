// SPDX-License-Identifier: Apache-2.0
// sparse_attn and two_stage at their production shape: head 512, ratio 128 without overlap, state blocks of 8, packed
// rows, the seed's layout. One block of threads a token, or a cluster of blocks (sm_90) where few tokens of many
// candidates do work; its loads are always one half-head ahead. sparse_attn_ratio128_few.cuh has few candidates.
#pragma once

#include <cstdint>

#include "gpu/primitives/arithmetic.cuh"
#include "gpu/primitives/cluster.cuh"
#include "gpu/stages/gather.cuh"
#include "gpu/stages/locate.cuh"
#include "gpu/stages/paged_store.cuh"
#include "gpu/stages/rms_norm.cuh"
#include "gpu/stages/rope.cuh"
#include "gpu/stages/shapes.cuh"
#include "gpu/stages/softmax_compress.cuh"

namespace kvexact::gpu {

// State blocks of 8 positions: row partial j is position j of every block, step i of a partial is block i of the
// window.
struct Ratio128 {
  static constexpr int kRatio = 128;
  static constexpr int kBlock = 8;
  static constexpr int kSteps = kRatio / spec::kRowPartials;
  static constexpr int kHead = kSparseHead;
  static constexpr int kNope = kHead - kRopeDim;
  static constexpr int kRowStride = 2 * kHead;  // floats from position to position: KV, then scores
  static_assert(kBlock == spec::kRowPartials);

  // Block number of step `lane` of the window that ends at `position`, in lanes [0, kSteps).
  __device__ static std::int32_t Entry(const CompressArguments& arguments, std::int32_t request, std::int64_t position,
                                       int lane) {
    const std::int32_t* entries =
        arguments.block_table + request * arguments.table_stride + position / kBlock - (kSteps - 1);
    return lane < kSteps ? __ldg(entries + lane) : 0;
  }
};

__device__ inline float4 ShuffleXor(const float4& v, int distance) {
  return make_float4(__shfl_xor_sync(0xFFFFFFFFU, v.x, distance), __shfl_xor_sync(0xFFFFFFFFU, v.y, distance),
                     __shfl_xor_sync(0xFFFFFFFFU, v.z, distance), __shfl_xor_sync(0xFFFFFFFFU, v.w, distance));
}

// Fold of partials j and j + 4, which lie 16 lanes apart.
__device__ inline Partial FoldAcrossWarp(const Partial& p) {
  return Add(p, {ShuffleXor(p.num, 16), ShuffleXor(p.den, 16)});
}

struct Ratio128Token {
  std::int64_t position;
  std::int64_t kv_slot;
  std::int32_t request;
};

inline constexpr int kRatio128Threads = 128;
inline constexpr int kRatio128StagedBytes = Ratio128::kSteps * kRatio128Threads * 16;  // dynamic shared memory
inline constexpr int kCandidates = 4;  // a lane and round: few tokens of a prefill reach a boundary

// token_step clusters of kBlocks blocks share the candidates; a block takes its share of the head in
// slices of 64 columns: 8 row partials of 16 threads, four columns a thread. While a slice is summed, each row's place
// (scores: registers, KV: the thread's own shared memory) is refilled with that row of the next slice, so that a block
// always has nearly 64 KiB in flight.
template <class Arithmetic, int kBlocks>
__global__ void __launch_bounds__(kRatio128Threads, 4) SparseAttnRatio128(const CompressArguments arguments) {
  using Shape = Ratio128;
  constexpr WeightConstants kWeights = WeightConstants::Of(Shape::kRatio);
  constexpr spec::Layout kLayout = spec::kSparseAttnLayout;
  constexpr int kSteps = Shape::kSteps;
  constexpr int kSlice = 64;
  constexpr int kSlices = Shape::kHead / kSlice / kBlocks;
  constexpr int kOwned = kSlices * kSlice;  // columns of this block
  constexpr int kChains = Shape::kHead / spec::kHeadRun;

  extern __shared__ float4 staged[];  // [kSteps][threads]
  __shared__ float4 maxima[4][16];
  __shared__ Partial partials[4][16];
  __shared__ float4 means[kOwned / 4];
  __shared__ float chains[2][kChains];
  __shared__ Ratio128Token slots[kRatio128Threads / 32][32 * kCandidates];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread & 31;
  const int warp = thread / 32;  // row partials `warp` and warp + 4, the latter in the upper 16 lanes
  const int quad = lane & 15;
  const int rank = kBlocks == 1 ? 0 : static_cast<int>(blockIdx.x) % kBlocks;
  const int owned = rank * kOwned;
  const float* base = arguments.state + (warp + (lane >> 4) * 4) * Shape::kRowStride + owned + quad * 4;
  int buffer = 0;
  bool cluster_started = false;
  if constexpr (kBlocks > 1) {
    ClusterArriveRelaxed();
    if (warp == 0)
      PrefetchL1(static_cast<const char*>(arguments.norm_weight) +
                 (owned + quad * 4) * (arguments.norm_weight_bf16 ? 2 : 4));
  }

  const auto resolve = [](const Token& t) { return Ratio128Token{t.position, t.kv_slot, t.request}; };
  TokenQueue<true, kCandidates, Ratio128Token, decltype(resolve)> queue(arguments, blockIdx.x / kBlocks, Shape::kRatio,
                                                                        slots[warp], resolve);
  Ratio128Token token;
  if (queue.Next(token)) {
    std::int32_t entry = Shape::Entry(arguments, token.request, token.position, lane);
    const auto row = [&](std::int32_t entries, int i, int slice) {
      return base + slice * kSlice + __shfl_sync(0xFFFFFFFFU, entries, i) * arguments.block_stride;
    };
    float4 score[kSteps];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) score[i] = LoadStream(row(entry, i, 0) + Shape::kHead);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) CopyAsync(true, &staged[i * kRatio128Threads + thread], row(entry, i, 0));

    for (bool more = true; more;) {
      Ratio128Token next = token;
      more = queue.Next(next);
      std::int32_t next_entry = entry;
      if (kBlocks > 1 && warp == 0 && owned + quad * 4 >= Shape::kNope) {
        PrefetchL1(arguments.cos_sin + (token.position & ~std::int64_t{Shape::kRatio - 1}) * arguments.cos_sin_stride +
                   lane * 2);
      }
      if (more) next_entry = Shape::Entry(arguments, next.request, next.position, lane);

#pragma unroll 1
      for (int slice = 0; slice < kSlices; ++slice) {
        const bool last = slice == kSlices - 1;
        const bool refill = more || !last;
        const std::int32_t refill_entry = last ? next_entry : entry;
        const int refill_slice = last ? 0 : slice + 1;

        float4 m = score[0];
#pragma unroll
        for (int i = 1; i < kSteps; ++i) m = Max(m, score[i]);
        m = Max(m, ShuffleXor(m, 16));
        if (lane < 16) maxima[warp][lane] = m;
        __syncthreads();
        m = Max(Max(maxima[0][quad], maxima[1][quad]), Max(maxima[2][quad], maxima[3][quad]));

        Partial p;
#pragma unroll
        for (int i = 0; i < kSteps; ++i) {
          float4* place = &staged[i * kRatio128Threads + thread];
          WaitAsync<kSteps - 1>();
          const float4 kv = *place;
          if (i == 0) {
            p = Begin(Weights<Arithmetic>(score[i], m, kWeights), kv);
          } else {
            Accumulate<Arithmetic>(score[i], kv, m, kWeights, p);
          }
          const float* from = row(refill_entry, i, refill_slice);
          LoadStreamIf(refill, from + Shape::kHead, score[i]);
          CopyAsync(refill, place, from);
        }
        p = FoldAcrossWarp(p);
        if (lane < 16) partials[warp][lane] = p;
        __syncthreads();
        if (warp == 0) {
          const float4 c = Mean<Arithmetic>(
              Add(Add(partials[0][quad], partials[2][quad]), Add(partials[1][quad], partials[3][quad])));
          if (lane < 16) means[slice * 16 + quad] = c;
          const int chain = (owned + slice * kSlice) / spec::kHeadRun + quad;
          if constexpr (kBlocks == 1) {
            chains[buffer][chain] = SquareChain(c);
          } else {
            if (!cluster_started) ClusterWait();  // all shared memory of the cluster exists from here on
            const float value = SquareChain(c);
#pragma unroll
            for (int target = 0; target < kBlocks; target += 2) {
              StoreCluster(&chains[buffer][chain], target + lane / 16, value);
            }
          }
        } else if constexpr (kBlocks > 1) {
          if (!cluster_started) ClusterWait();
        }
        cluster_started = true;
      }
      if constexpr (kBlocks == 1) {
        __syncthreads();
      } else {
        ClusterArrive();
        ClusterWait();
      }

      if (thread < (kOwned / 4 + 31) / 32 * 32) {
        const int column = owned + (kOwned >= 128 ? thread : quad) * 4;
        const bool writes = thread < kOwned / 4;
        Rotation rotation;
        if (column >= Shape::kNope) {
          rotation = LoadRotation(
              arguments.cos_sin + (token.position & ~std::int64_t{Shape::kRatio - 1}) * arguments.cos_sin_stride,
              kRopeDim / 2, (column - Shape::kNope) / 2);
        }
        const float4 norm_weight = LoadNormWeight(arguments, column);
        float g[Shape::kHead / spec::kHeadGroup];
#pragma unroll
        for (int i = 0; i < Shape::kHead / spec::kHeadGroup; ++i) g[i] = FoldHeadGroup(chains[buffer][i * 32 + lane]);
        const float sum = __fadd_rn(__fadd_rn(g[0], g[1]), __fadd_rn(g[2], g[3]));
        const float4 n = Normalise(means[(column - owned) / 4],
                                   ReciprocalRms<Arithmetic, Shape::kHead>(sum, arguments.eps), norm_weight);
        StoreSparse(Place(arguments, kLayout, token.kv_slot), column, n, rotation, writes);
      }
      buffer ^= 1;
      token = next;
      entry = next_entry;
    }
  }
  if constexpr (kBlocks > 1) {
    if (!cluster_started) ClusterWait();
  }
}

}  // namespace kvexact::gpu
