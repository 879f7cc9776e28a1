// SPDX-License-Identifier: Apache-2.0
// sparse_attn and two_stage at ratio 128 (sparse_attn_ratio128.cuh) for few tokens, on sm_90 and later: a cluster of
// blocks a token, so that one token fills several multiprocessors, and the shortest way through.
#pragma once

#include <cstdint>

#include "gpu/operations/sparse_attn_ratio128.cuh"
#include "gpu/primitives/cluster.cuh"

namespace kvexact::gpu {

// How a token is dealt out to a cluster of kBlocks (8 or 16). A warp has one row partial; a lane has kColumns columns
// of it: scores in registers, KV rows in its own shared memory, so that all that a block loads is asked for at once.
// The 64 columns that share a scale are finished by the first block that has some of them.
template <int kBlocksOfAToken>
struct Ratio128Cluster {
  static constexpr int kBlocks = kBlocksOfAToken;
  static constexpr int kOwned = Ratio128::kHead / kBlocks;  // columns of a block
  static constexpr int kColumns = kOwned / 32;              // of a lane
  static_assert(kColumns == 1 || kColumns == 2);
  static constexpr int kThreads = 32 * spec::kRowPartials;
  static constexpr int kFinished = 64;
  static constexpr int kShare = kFinished / kOwned;  // blocks that share a scale
  static constexpr int kFinishing = kBlocks / kShare;
  static constexpr int kChains = Ratio128::kHead / spec::kHeadRun;
  static constexpr int kMailBytes = (kChains + kFinished) * 4;
};

template <class Arithmetic, int kBlocks>
__global__ void __launch_bounds__(Ratio128Cluster<kBlocks>::kThreads, 4)
    SparseAttnRatio128Few(const CompressArguments arguments) {
  using Shape = Ratio128;
  using Cluster = Ratio128Cluster<kBlocks>;
  using Columns = FloatVector<Cluster::kColumns>;
  constexpr WeightConstants kWeights = WeightConstants::Of(Shape::kRatio);
  constexpr int kSteps = Shape::kSteps;
  constexpr int kColumns = Cluster::kColumns;

  __shared__ Columns staged[kSteps][Cluster::kThreads];
  __shared__ Columns maxima[spec::kRowPartials][32];
  __shared__ Columns nums[spec::kRowPartials][32];
  __shared__ Columns dens[spec::kRowPartials][32];
  // Where the finishing blocks get what the cluster has computed.
  __shared__ Mailbox mailbox;
  __shared__ float chains[Cluster::kChains];
  __shared__ float4 means[Cluster::kFinished / 4];

  const int thread = static_cast<int>(threadIdx.x);
  const int lane = thread & 31;
  const int warp = thread / 32;
  const int rank = static_cast<int>(blockIdx.x) % kBlocks;
  const bool finishes = rank % Cluster::kShare == 0;
  const int first_column = rank * Cluster::kOwned;

  Token token;
  if (!Inspect<true>(arguments, blockIdx.x / kBlocks, Shape::kRatio, token)) return;  // the whole cluster
  const std::int32_t entry = Shape::Entry(arguments, token.request, token.position, lane);
  const float* base = arguments.state + warp * Shape::kRowStride + first_column + lane * kColumns;
  const float* row[kSteps];
  Columns score[kSteps];
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    // Block numbers are not negative.
    row[i] = base + static_cast<std::uint32_t>(__shfl_sync(0xFFFFFFFFU, entry, i)) * arguments.block_stride;
    score[i] = Columns::LoadStreamNow(row[i] + Shape::kHead);
  }
#pragma unroll
  for (int i = 0; i < kSteps; ++i) CopyAsyncPiece<4 * kColumns>(&staged[i][thread], row[i]);
  const float* angles =
      arguments.cos_sin + (token.position & ~std::int64_t{Shape::kRatio - 1}) * arguments.cos_sin_stride;
  if (finishes && warp == 0) {
    PrefetchL2(static_cast<const char*>(arguments.norm_weight) +
               (first_column + (lane & 15) * 4) * (arguments.norm_weight_bf16 ? 2 : 4));
    if (first_column >= Shape::kNope) PrefetchL2(angles + lane * 2);
  }
  if (thread == 0) mailbox.Begin(Cluster::kMailBytes);
  ClusterArriveRelaxed();

  Columns m = score[0];
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
#pragma unroll
    for (int i = 1; i < kSteps; ++i) m.v[c] = fmaxf(m.v[c], score[i].v[c]);
  }
  maxima[warp][lane] = m;
  __syncthreads();
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
#pragma unroll
    for (int j = 0; j < spec::kRowPartials; ++j) m.v[c] = fmaxf(m.v[c], maxima[j][lane].v[c]);
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      score[i].v[c] = Arithmetic::Weight(__fsub_rn(score[i].v[c], m.v[c]), kWeights);
    }
  }
  WaitAsyncAll();
  Columns num{};
  Columns den{};
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const Columns kv = staged[i][thread];
#pragma unroll
    for (int c = 0; c < kColumns; ++c) {
      num.v[c] = __fmaf_rn(score[i].v[c], kv.v[c], num.v[c]);
      den.v[c] = __fadd_rn(den.v[c], score[i].v[c]);
    }
  }
  nums[warp][lane] = num;
  dens[warp][lane] = den;
  ClusterWait();  // the mailboxes are ready
  __syncthreads();
  if (warp != 0) return;

  const auto fold = [&](const Columns(&p)[spec::kRowPartials][32], int c) {
    const auto add = [&](int i, int j) { return __fadd_rn(p[i][lane].v[c], p[j][lane].v[c]); };
    return __fadd_rn(__fadd_rn(add(0, 4), add(2, 6)), __fadd_rn(add(1, 5), add(3, 7)));
  };
  Columns mean;
#pragma unroll
  for (int c = 0; c < kColumns; ++c) mean.v[c] = Arithmetic::Divide(fold(nums, c), fold(dens, c));
  // The lanes of a chain's four columns all compute it, and send it to a part of the finishing blocks each.
  constexpr int kLanes = spec::kHeadRun / kColumns;
  const auto column = [&](int i) {
    return __shfl_sync(0xFFFFFFFFU, mean.v[i % kColumns], lane / kLanes * kLanes + i / kColumns);
  };
  const float chain = SquareChain(make_float4(column(0), column(1), column(2), column(3)));
#pragma unroll
  for (int i = 0; i < Cluster::kFinishing; i += kLanes) {
    mailbox.Send(&chains[first_column / spec::kHeadRun + lane / kLanes], (i + lane % kLanes) * Cluster::kShare, chain);
  }
#pragma unroll
  for (int c = 0; c < kColumns; ++c) {
    const int place = (rank % Cluster::kShare) * Cluster::kOwned + lane * kColumns + c;
    mailbox.Send(reinterpret_cast<float*>(means) + place, rank - rank % Cluster::kShare, mean.v[c]);
  }
  if (!finishes) return;

  const int finished = first_column + (lane & 15) * 4;
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
