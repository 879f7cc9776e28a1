// SPDX-License-Identifier: Apache-2.0
// indexer_q_fp8 and indexer_q_mxfp4 at their production shape: head 128, the last 64 columns rotate, an fp32 table, a
// multiple of 8 heads, rows of Q and of the table aligned to 16 bytes.
#pragma once

#include <cstdint>

#include "gpu/operations/indexer_q_heads.cuh"

namespace kvexact::gpu {

// One warp a group of heads, the shortest way through.
template <QFormat kFormat, class Shape>
__global__ void __launch_bounds__(Shape::kThreads) IndexerQFew(const IndexerQArguments arguments) {
  const QLane<Shape> lane;
  const QHeads heads = HeadsOf<Shape>(arguments, std::int64_t{blockIdx.x} * (Shape::kThreads / 32) + threadIdx.x / 32);
  if (heads.token >= arguments.tokens) return;
  QLoaded<Shape> x;
  const std::uint16_t* q = lane.Row(arguments, heads);
#pragma unroll
  for (int t = 0; t < Shape::kTurns; ++t) {
    x.nope[t].Load(q + t * Shape::kHeads * arguments.q_head_stride);
    x.rope[t].Load(q + t * Shape::kHeads * arguments.q_head_stride + kIndexerHead - kRopeDim);
  }
  x.weight = LoadWeight(arguments, heads.token, lane.FoldedHead(heads));
  // Behind the loads that do not depend on it: what follows waits for it.
  const float* table = lane.Table(arguments, LoadNow(arguments.positions + heads.token));
#pragma unroll
  for (int i = 0; i < Shape::kWords; ++i) {
    x.cosine[i] = __ldg(table + i);
    x.sine[i] = __ldg(table + kRopeDim / 2 + i);
  }
  QuantiseHeads<kFormat>(arguments, heads, x);
}

// Many heads: as many warps as are resident share the groups of heads. While a group is computed, all that the next one
// reads is on its way to the lane's own shared memory.
template <QFormat kFormat, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kResident) IndexerQMany(const IndexerQArguments arguments) {
  static_assert(Shape::kWords == 4, "16-byte copies");
  constexpr int kTurns = Shape::kTurns;
  __shared__ uint4 staged[2 * kTurns + 2][Shape::kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const QLane<Shape> lane;
  const std::int64_t step = std::int64_t{gridDim.x} * (Shape::kThreads / 32);
  std::int64_t worker = std::int64_t{blockIdx.x} * (Shape::kThreads / 32) + threadIdx.x / 32;
  QHeads heads = HeadsOf<Shape>(arguments, worker);
  if (heads.token >= arguments.tokens) return;

  const auto ask = [&](const QHeads& of, std::int64_t position) {
    const std::uint16_t* q = lane.Row(arguments, of);
#pragma unroll
    for (int t = 0; t < kTurns; ++t) {
      CopyAsyncStream(&staged[2 * t][thread], q + t * Shape::kHeads * arguments.q_head_stride);
      CopyAsyncStream(&staged[2 * t + 1][thread],
                      q + t * Shape::kHeads * arguments.q_head_stride + kIndexerHead - kRopeDim);
    }
    const float* table = lane.Table(arguments, position);
    CopyAsyncPiece<16>(&staged[2 * kTurns][thread], table);
    CopyAsyncPiece<16>(&staged[2 * kTurns + 1][thread], table + kRopeDim / 2);
  };
  // Positions are known one group ahead of what they are needed for.
  const auto position_of = [&](const QHeads& of) {
    return LoadNow(arguments.positions + (of.token < arguments.tokens ? of.token : 0));
  };
  RawFloat weight = LoadWeight(arguments, heads.token, lane.FoldedHead(heads));
  ask(heads, position_of(heads));
  QHeads next = HeadsOf<Shape>(arguments, worker + step);
  std::int64_t next_position = position_of(next);
  for (bool more = true; more;) {
    QLoaded<Shape> x;
    x.weight = weight;
    WaitAsyncAll();
#pragma unroll
    for (int t = 0; t < kTurns; ++t) {
      x.nope[t].Take(staged[2 * t][thread]);
      x.rope[t].Take(staged[2 * t + 1][thread]);
    }
    const auto floats = [&](const uint4& v, float(&to)[Shape::kWords]) {
      to[0] = __uint_as_float(v.x), to[1] = __uint_as_float(v.y);
      to[2] = __uint_as_float(v.z), to[3] = __uint_as_float(v.w);
    };
    floats(staged[2 * kTurns][thread], x.cosine);
    floats(staged[2 * kTurns + 1][thread], x.sine);
    more = next.token < arguments.tokens;
    worker += step;
    const QHeads behind = HeadsOf<Shape>(arguments, worker + step);
    if (more) {
      ask(next, next_position);
      weight = LoadWeight(arguments, next.token, lane.FoldedHead(next));
      next_position = position_of(behind);
    }
    QuantiseHeads<kFormat>(arguments, heads, x);
    heads = next;
    next = behind;
  }
}

}  // namespace kvexact::gpu
