// SPDX-License-Identifier: Apache-2.0
// Rows of a window from the state cache.
#pragma once

#include <cstdint>

#include "gpu/primitives/memory.cuh"
#include "gpu/stages/arguments.cuh"
#include "gpu/stages/locate.cuh"
#include "gpu/stages/softmax_compress.cuh"

namespace kvexact::gpu {

// The window of a token at ratio 4 with overlap and state blocks of four positions: two whole blocks, the earlier one
// read at head offset 0, the later one at the head dimension.
struct WindowOfTwoBlocks {
  std::int64_t position;
  std::int64_t kv_slot;
  std::int32_t earlier;  // block numbers; the first window of a request has no earlier block
  std::int32_t later;

  __device__ bool first_window() const { return position < 4; }
};

__device__ inline WindowOfTwoBlocks ResolveTwoBlocks(const CompressArguments& arguments, const Token& token) {
  const std::int64_t block = token.position >> 2;
  const std::int32_t* entry = arguments.block_table + token.request * arguments.table_stride + block;
  // A masked row is not used; the later block stands in for its address. Two loads, neither of which waits for the
  // other.
  return {token.position, token.kv_slot, __ldg(entry - (block == 0 ? 0 : 1)), __ldg(entry)};
}

// Addresses of that window's rows for four columns from `column`. Rows are packed: the state is kWidth wide and a
// position takes 2 * kWidth, so that every row is a constant away from its block.
template <int kHead>
struct EightRows {
  static constexpr int kWidth = 2 * kHead;
  const float* earlier;
  const float* later;

  __device__ EightRows(const CompressArguments& arguments, const WindowOfTwoBlocks& window, int column)
      : earlier(arguments.state + window.earlier * arguments.block_stride + column),
        later(arguments.state + window.later * arguments.block_stride + kHead + column) {}
  __device__ const float* kv(int r) const {
    return r < 4 ? earlier + r * (2 * kWidth) : later + (r - 4) * (2 * kWidth);
  }
  __device__ const float* score(int r) const { return kv(r) + kWidth; }
  __device__ void LoadScores(float4 (&to)[8]) const {
#pragma unroll
    for (int r = 0; r < 8; ++r) to[r] = LoadStreamNow(reinterpret_cast<const float4*>(score(r)));
  }
  // `offset` is 0.
  __device__ void LoadKv(float4 (&to)[8], int offset = 0) const {
#pragma unroll
    for (int r = 0; r < 8; ++r) to[r] = LoadStreamNow(reinterpret_cast<const float4*>(kv(r) + offset));
  }
};

}  // namespace kvexact::gpu
