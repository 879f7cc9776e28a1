// SPDX-License-Identifier: Apache-2.0
// sparse_attn and two_stage at ratio 128 (sparse_attn_ratio128.cuh) for few tokens, on sm_90 and later: a cluster of
// blocks a token, so that one token fills several multiprocessors, and the shortest way through.
#pragma once

#include <cstdint>

#include "gpu/operations/sparse_attn_ratio128.cuh"
#include "gpu/primitives/cluster.cuh"

namespace kvexact::gpu {

// How a token is dealt out to a cluster of kBlocks (8 or 16). A thread has one column and one row partial, so that all
// that it loads is in registers at once. A group of kShare blocks has the 64 columns that share a scale; its first
// block finishes them.
template <int kBlocks>
struct Ratio128Cluster {
  static constexpr int kColumns = Ratio128::kHead / kBlocks;
  static constexpr int kThreads = kColumns * spec::kRowPartials;
  static constexpr int kFinished = 64;
  static constexpr int kShare = kFinished / kColumns;
  static constexpr int kChains = Ratio128::kHead / spec::kHeadRun;
  static constexpr int kMailBytes = (kChains + kFinished) * 4;
};

template <class Arithmetic, int kBlocks>
__global__ void __launch_bounds__(Ratio128Cluster<kBlocks>::kThreads, 1024 / Ratio128Cluster<kBlocks>::kThreads)
    SparseAttnRatio128Few(const CompressArguments arguments) {
  using Shape = Ratio128;
  using Cluster = Ratio128Cluster<kBlocks>;
  constexpr WeightConstants kWeights = WeightConstants::Of(Shape::kRatio);
  constexpr int kSteps = Shape::kSteps;
  constexpr int kColumns = Cluster::kColumns;

  __shared__ float maxima[spec::kRowPartials][kColumns];
  __shared__ float2 partials[spec::kRowPartials][kColumns];  // num, den
  // Where the finishing blocks get what the cluster has computed.
  __shared__ Mailbox mailbox;
  __shared__ float chains[Cluster::kChains];
  __shared__ float4 means[Cluster::kFinished / 4];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread & 31;
  const int partial = thread / kColumns;
  const int own_column = thread % kColumns;
  const int rank = static_cast<int>(blockIdx.x) % kBlocks;
  const bool finishes = rank % Cluster::kShare == 0;
  const int first_finished = rank * kColumns;  // of the finishing block's 64 columns

  Token token;
  if (!Inspect<true>(arguments, blockIdx.x / kBlocks, Shape::kRatio, token)) return;  // the whole cluster
  const std::int32_t entry = Shape::Entry(arguments, token.request, token.position, lane);
  const float* base = arguments.state + partial * Shape::kRowStride + rank * kColumns + own_column;
  float score[kSteps];
  float kv[kSteps];
  const float* row[kSteps];
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    // Block numbers are not negative.
    row[i] = base + static_cast<std::uint32_t>(__shfl_sync(0xFFFFFFFFU, entry, i)) * arguments.block_stride;
    score[i] = LoadStreamNow(row[i] + Shape::kHead);
  }
#pragma unroll
  for (int i = 0; i < kSteps; ++i) kv[i] = LoadStreamNow(row[i]);
  const float* angles =
      arguments.cos_sin + (token.position & ~std::int64_t{Shape::kRatio - 1}) * arguments.cos_sin_stride;
  if (finishes && thread < 32) {
    PrefetchL2(static_cast<const char*>(arguments.norm_weight) +
               (first_finished + (lane & 15) * 4) * (arguments.norm_weight_bf16 ? 2 : 4));
    if (first_finished >= Shape::kNope) PrefetchL2(angles + lane * 2);
  }
  if (thread == 0) mailbox.Begin(Cluster::kMailBytes);
  ClusterArriveRelaxed();

  float m = score[0];
#pragma unroll
  for (int i = 1; i < kSteps; ++i) m = fmaxf(m, score[i]);
  maxima[partial][own_column] = m;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < spec::kRowPartials; ++j) m = fmaxf(m, maxima[j][own_column]);
    // Weights first: they need the scores alone, which were asked for before the KV rows.
#pragma unroll
  for (int i = 0; i < kSteps; ++i) score[i] = Arithmetic::Weight(__fsub_rn(score[i], m), kWeights);
  float num = 0.0F;
  float den = 0.0F;
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    num = __fmaf_rn(score[i], kv[i], num);
    den = __fadd_rn(den, score[i]);
  }
  partials[partial][own_column] = make_float2(num, den);
  ClusterWait();  // the mailboxes are ready
  __syncthreads();
  if (thread >= kColumns) return;

  const auto fold = [&](int i, int j) {
    const float2 a = partials[i][own_column];
    const float2 b = partials[j][own_column];
    return make_float2(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y));
  };
  const auto add = [](const float2& a, const float2& b) {
    return make_float2(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y));
  };
  const float2 sum = add(add(fold(0, 4), fold(2, 6)), add(fold(1, 5), fold(3, 7)));
  const float mean = Arithmetic::Divide(sum.x, sum.y);
  // Four lanes hold a chain's columns; each computes it and sends it to a quarter of the finishing blocks.
  const auto of_chain = [&](int i) { return __shfl_sync(0xFFFFFFFFU, mean, (lane & ~3) + i); };
  const float chain = SquareChain(make_float4(of_chain(0), of_chain(1), of_chain(2), of_chain(3)));
  const int column = rank * kColumns + own_column;
#pragma unroll
  for (int i = 0; i < kBlocks / Cluster::kShare / 4; ++i) {
    mailbox.Send(&chains[column / spec::kHeadRun], (i * 4 + (lane & 3)) * Cluster::kShare, chain);
  }
  mailbox.Send(reinterpret_cast<float*>(means) + column % Cluster::kFinished, rank - rank % Cluster::kShare, mean);
  if (!finishes || thread >= 32) return;

  const int finished = first_finished + (lane & 15) * 4;
  Rotation rotation;
  if (finished >= Shape::kNope) rotation = LoadRotation(angles, kRopeDim / 2, (finished - Shape::kNope) / 2);
  const float4 norm_weight = LoadNormWeight(arguments, finished);
  const Placement place = Place(arguments, spec::Layout(spec::kSparseAttnLayout), token.kv_slot);
  mailbox.Wait();
  float g[Shape::kHead / spec::kHeadGroup];
#pragma unroll
  for (int i = 0; i < Shape::kHead / spec::kHeadGroup; ++i) g[i] = FoldHeadGroup(chains[i * 32 + lane]);
  const float squares = __fadd_rn(__fadd_rn(g[0], g[1]), __fadd_rn(g[2], g[3]));
  const float rrms = ReciprocalRms<Arithmetic, Shape::kHead>(squares, arguments.eps);
  StoreSparse(place, finished, Normalise(means[lane & 15], rrms, norm_weight), rotation, lane < 16);
}

}  // namespace kvexact::gpu
