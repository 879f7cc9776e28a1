// SPDX-License-Identifier: Apache-2.0
// What the Q kernels are launched with: plain data, passed by value. The host has checked it
// (gpu/operations/indexer_q.h).
#pragma once

#include <cstdint>

namespace kvexact::gpu {

enum class QFormat { kE4m3Fn, kE4m3Fnuz, kE2m1 };

struct IndexerQArguments {
  const std::uint16_t* q;  // bf16 bits [tokens, heads, 128]; strides in elements
  std::int64_t q_token_stride;
  std::int64_t q_head_stride;
  const std::int64_t* positions;
  const void* cos_sin;
  std::int64_t cos_sin_stride;
  bool cos_sin_bf16;
  std::int64_t rope_dim;
  const void* weights;  // [tokens, heads]
  std::int64_t weights_stride;
  bool weights_bf16;
  std::uint8_t* codes;   // [tokens, heads, 128 or 64]
  std::uint8_t* scales;  // [tokens, heads, 4], MXFP4
  void* weights_out;     // [tokens, heads]
  bool weights_out_bf16;
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t groups;  // of heads, one a warp, that a token has
  int groups_shift;     // log2 of groups where it is a power of two, else -1
  bool q_aligned;       // every head of Q starts at a multiple of 16 bytes
  bool codes_aligned;   // every head's codes start at a multiple of 4 bytes
  float softmax_scale;
  float head_scale;
  // A bf16 -0 above a +0. As an argument it is an operand of the instructions that add it; a constant would be built
  // anew at each use, three instructions a time.
  std::uint32_t negative_zero_high;
};

}  // namespace kvexact::gpu
