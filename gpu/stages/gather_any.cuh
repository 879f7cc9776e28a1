// SPDX-License-Identifier: Apache-2.0
// The weighted mean of 128 columns over a window of any shape: eight warps, one row partial each.
#pragma once

#include <cstdint>

#include "gpu/primitives/arithmetic.cuh"
#include "gpu/primitives/memory.cuh"
#include "gpu/stages/arguments.cuh"
#include "gpu/stages/locate.cuh"
#include "gpu/stages/softmax_compress.cuh"

namespace kvexact::gpu {

inline constexpr int kAnyThreads = 32 * spec::kRowPartials;

// Shared memory of the mean.
struct AnyScratch {
  float4 maxima[spec::kRowPartials][32];
  Partial partials[spec::kRowPartials][32];
};

// Calls visit(row's first element) for the rows of this warp's partial, in ascending order; rows before position 0 are
// left out: they come first in every partial, where adding their weight +0 changes nothing.
template <class Visit>
__device__ inline void ForEachRow(const CompressArguments& arguments, const Token& token, int head, Visit visit) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::int64_t warp = threadIdx.x / 32;
  const std::int64_t first = token.position - arguments.window_rows + 1;
  const std::int32_t* table = arguments.block_table + token.request * arguments.table_stride;
  for (std::int64_t base = 0; base + warp < arguments.window_rows; base += 32 * spec::kRowPartials) {
    const std::int64_t row = base + warp + lane * spec::kRowPartials;
    const std::int64_t position = first + row;
    std::int64_t offset = -1;
    if (row < arguments.window_rows && position >= 0) {
      const std::int64_t block = position / arguments.block_size;
      offset = __ldg(table + block) * arguments.block_stride +
               (position - block * arguments.block_size) * arguments.row_stride + (row >= arguments.ratio ? head : 0);
    }
    for (int i = 0; i < 32; ++i) {
      const std::int64_t from = Shuffle(offset, i);
      if (from >= 0) visit(arguments.state + from);
    }
  }
}

// Mean of columns 128 * group + 4 * lane + [0, 4), in warp 0. All warps together.
template <class Arithmetic>
__device__ inline float4 MeanOfGroup(const CompressArguments& arguments, const Token& token, int head, int group,
                                     AnyScratch& scratch) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int column = group * 128 + lane * 4;
  const bool aligned = arguments.state_aligned;
  const WeightConstants weights = {arguments.weight_magic, arguments.weight_cutoff};

  float4 m = MaskedScore();
  ForEachRow(arguments, token, head,
             [&](const float* row) { m = Max(m, LoadAny(row + arguments.state_width + column, aligned)); });
  scratch.maxima[warp][lane] = m;
  __syncthreads();
  for (int i = 0; i < spec::kRowPartials; ++i) m = Max(m, scratch.maxima[i][lane]);

  Partial p = {};
  ForEachRow(arguments, token, head, [&](const float* row) {
    Accumulate<Arithmetic>(LoadAny(row + arguments.state_width + column, aligned), LoadAny(row + column, aligned), m,
                           weights, p);
  });
  scratch.partials[warp][lane] = p;
  __syncthreads();
  if (warp != 0) return {};
  Partial all[spec::kRowPartials];
#pragma unroll
  for (int i = 0; i < spec::kRowPartials; ++i) all[i] = scratch.partials[i][lane];
  return Mean<Arithmetic>(FoldRows(all));
}

}  // namespace kvexact::gpu
