// SPDX-License-Identifier: Apache-2.0
// indexer_fp8 and indexer_mxfp4 at their production shape: head 128, ratio 4 with overlap, state blocks of 4, packed
// rows, the seed's layouts.
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

inline constexpr int kIndexerThreads = 128;  // one warp a token, four columns a lane

__device__ inline Rotation IndexerRotation(const CompressArguments& arguments, std::int64_t position, int column) {
  if (column < kIndexerHead - kRopeDim) return {};  // cos 1, sin 0: these pairs take part too
  return LoadRotation(arguments.cos_sin + (position & ~std::int64_t{3}) * arguments.cos_sin_stride, kRopeDim / 2,
                      (column - (kIndexerHead - kRopeDim)) / 2);
}

// Everything behind the mean.
template <class Arithmetic, bool kMxfp4>
__device__ inline void FinishIndexer(const CompressArguments& arguments, const float4& c, const float4& norm_weight,
                                     const Rotation& rotation, std::int64_t kv_slot) {
  const float sum = FoldHeadGroup(SquareChain(c));
  const float4 n = Normalise(c, ReciprocalRms<Arithmetic, kIndexerHead>(sum, arguments.eps), norm_weight);
  const Placement place =
      Place(arguments, spec::Layout(kMxfp4 ? spec::kIndexerMxfp4Layout : spec::kIndexerFp8Layout), kv_slot);
  StoreIndexer<kMxfp4>(place, static_cast<int>(threadIdx.x) & 31, RoundBf16(Rotate(rotation, n)));
}

// Few tokens: one warp a candidate, the shortest way through.
template <class Arithmetic, bool kMxfp4>
__global__ void __launch_bounds__(kIndexerThreads, 4) IndexerRatio4Few(const CompressArguments arguments) {
  const int column = (static_cast<int>(threadIdx.x) & 31) * 4;
  const float4 norm_weight = LoadNormWeight(arguments, column);
  Token token;
  if (!Inspect<true>(arguments, std::int64_t{blockIdx.x} * (kIndexerThreads / 32) + threadIdx.x / 32, 4, token)) return;
  const WindowOfTwoBlocks window = ResolveTwoBlocks(arguments, token);
  const Rotation rotation = IndexerRotation(arguments, window.position, column);
  float4 score[8];
  float4 kv[8];
  const EightRows<kIndexerHead> rows(arguments, window, column);
  rows.LoadScores(score);
  rows.LoadKv(kv);
  const float4 c = MeanOfEight<Arithmetic>(
      window.first_window(), score, kv, [](const float4&) {}, [](int) {});
  FinishIndexer<Arithmetic, kMxfp4>(arguments, c, norm_weight, rotation, window.kv_slot);
}

// Many tokens: token_step warps share the candidates. While a window is summed, the registers of its scores are
// refilled with the next one's. KV rows are asked for when the scores are there: their weights are computed meanwhile.
template <class Arithmetic, bool kMxfp4>
__global__ void __launch_bounds__(kIndexerThreads, 4) IndexerRatio4(const CompressArguments arguments) {
  __shared__ float4 norm_weight[kIndexerThreads];  // each thread keeps its own entry here and not in registers
  __shared__ WindowOfTwoBlocks slots[kIndexerThreads / 32][32];

  const int column = (static_cast<int>(threadIdx.x) & 31) * 4;
  norm_weight[threadIdx.x] = LoadNormWeight(arguments, column);
  const std::int64_t worker = std::int64_t{blockIdx.x} * (kIndexerThreads / 32) + threadIdx.x / 32;
  if (worker >= arguments.token_step) return;
  const auto resolve = [&](const Token& token) { return ResolveTwoBlocks(arguments, token); };
  TokenQueue<true, 1, WindowOfTwoBlocks, decltype(resolve)> queue(arguments, worker, 4, slots[threadIdx.x / 32],
                                                                  resolve);
  WindowOfTwoBlocks window;
  if (!queue.Next(window)) return;
  float4 score[8];
  float4 kv[8];
  EightRows<kIndexerHead> rows(arguments, window, column);
  rows.LoadScores(score);
  for (bool more = true; more;) {
    const Rotation rotation = IndexerRotation(arguments, window.position, column);
    WindowOfTwoBlocks next = window;
    more = queue.Next(next);
    const EightRows<kIndexerHead> next_rows(arguments, next, column);
    const float4 c = MeanOfEight<Arithmetic>(
        window.first_window(), score, kv,
        [&](const float4& maximum) { rows.LoadKv(kv, After(maximum, arguments.zero)); },
        [&](int r) { LoadStreamIf(more, next_rows.score(r), score[r]); });
    FinishIndexer<Arithmetic, kMxfp4>(arguments, c, norm_weight[threadIdx.x], rotation, window.kv_slot);
    window = next;
    rows = next_rows;
  }
}

}  // namespace kvexact::gpu
