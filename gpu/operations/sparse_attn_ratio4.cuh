// SPDX-License-Identifier: Apache-2.0
// sparse_attn at its production shape: head 512, ratio 4 with overlap, state blocks of 4, packed rows, the seed's
// layout.
#pragma once

#include <cstdint>

#include "gpu/primitives/arithmetic.cuh"
#include "gpu/stages/gather.cuh"
#include "gpu/stages/locate.cuh"
#include "gpu/stages/paged_store.cuh"
#include "gpu/stages/rms_norm.cuh"
#include "gpu/stages/rope.cuh"
#include "gpu/stages/shapes.cuh"
#include "gpu/stages/softmax_compress.cuh"

namespace kvexact::gpu {

inline constexpr int kSparseThreads = 128;  // four columns a thread

// 1 / rms over the head; a warp is a head group. `sums` has one entry a warp.
template <class Arithmetic>
__device__ inline float ReciprocalRmsOfBlock(const float4& c, float* sums, float eps) {
  const float group = FoldHeadGroup(SquareChain(c));
  if ((threadIdx.x & 31) == 0) sums[threadIdx.x / 32] = group;
  __syncthreads();
  return ReciprocalRms<Arithmetic, kSparseHead>(__fadd_rn(__fadd_rn(sums[0], sums[1]), __fadd_rn(sums[2], sums[3])),
                                                eps);
}

__device__ inline Rotation SparseRotation(const CompressArguments& arguments, std::int64_t position, int column) {
  if (column < kSparseHead - kRopeDim) return {};
  return LoadRotation(arguments.cos_sin + (position & ~std::int64_t{3}) * arguments.cos_sin_stride, kRopeDim / 2,
                      (column - (kSparseHead - kRopeDim)) / 2);
}

// Few tokens: one block of threads a candidate, the shortest way through. kKvLate: KV rows are asked for when the
// scores are there. That costs a latency, but where a multiprocessor has several blocks their weights are then computed
// while KV rows are on their way, not all at the end.
template <class Arithmetic, bool kKvLate>
__global__ void __launch_bounds__(kSparseThreads, 5) SparseAttnRatio4Few(const CompressArguments arguments) {
  __shared__ float sums[kSparseHead / spec::kHeadGroup];
  const int column = static_cast<int>(threadIdx.x) * 4;
  const float4 norm_weight = LoadNormWeight(arguments, column);
  Token token;
  if (!Inspect<true>(arguments, blockIdx.x, 4, token)) return;
  const WindowOfTwoBlocks window = ResolveTwoBlocks(arguments, token);
  const Rotation rotation = SparseRotation(arguments, window.position, column);
  float4 score[8];
  float4 kv[8];
  const EightRows<kSparseHead> rows(arguments, window, column);
  rows.LoadScores(score);
  if (!kKvLate) rows.LoadKv(kv);
  const Placement place = Place(arguments, spec::Layout(spec::kSparseAttnLayout), window.kv_slot);
  const float4 c = MeanOfEight<Arithmetic>(
      window.first_window(), score, kv,
      [&](const float4& maximum) {
        if (kKvLate) rows.LoadKv(kv, After(maximum, arguments.zero));
      },
      [](int) {});
  const float rrms = ReciprocalRmsOfBlock<Arithmetic>(c, sums, arguments.eps);
  StoreSparse(place, column, Normalise(c, rrms, norm_weight), rotation, true);
}

// Many tokens: token_step blocks of threads share the candidates. While a window is summed, the registers of its scores
// are refilled with the next one's. KV rows are asked for late.
template <class Arithmetic>
__global__ void __launch_bounds__(kSparseThreads, 4) SparseAttnRatio4(const CompressArguments arguments) {
  __shared__ float sums[2][kSparseHead / spec::kHeadGroup];
  __shared__ float4 norm_weight[kSparseThreads];  // each thread keeps its own entry here and not in registers
  __shared__ WindowOfTwoBlocks slots[kSparseThreads / 32][32];

  const int column = static_cast<int>(threadIdx.x) * 4;
  norm_weight[threadIdx.x] = LoadNormWeight(arguments, column);
  const auto resolve = [&](const Token& token) { return ResolveTwoBlocks(arguments, token); };
  TokenQueue<true, 1, WindowOfTwoBlocks, decltype(resolve)> queue(arguments, blockIdx.x, 4, slots[threadIdx.x / 32],
                                                                  resolve);
  WindowOfTwoBlocks window;
  if (!queue.Next(window)) return;
  float4 score[8];
  float4 kv[8];
  EightRows<kSparseHead> rows(arguments, window, column);
  rows.LoadScores(score);
  int buffer = 0;
  for (bool more = true; more;) {
    const Rotation rotation = SparseRotation(arguments, window.position, column);
    WindowOfTwoBlocks next = window;
    more = queue.Next(next);
    const EightRows<kSparseHead> next_rows(arguments, next, column);
    const float4 c = MeanOfEight<Arithmetic>(
        window.first_window(), score, kv,
        [&](const float4& maximum) { rows.LoadKv(kv, After(maximum, arguments.zero)); },
        [&](int r) { LoadStreamIf(more, next_rows.score(r), score[r]); });
    const float rrms = ReciprocalRmsOfBlock<Arithmetic>(c, sums[buffer], arguments.eps);
    const Placement place = Place(arguments, spec::Layout(spec::kSparseAttnLayout), window.kv_slot);
    StoreSparse(place, column, Normalise(c, rrms, norm_weight[threadIdx.x]), rotation, true);
    buffer ^= 1;
    window = next;
    rows = next_rows;
  }
}

}  // namespace kvexact::gpu
