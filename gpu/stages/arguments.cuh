// SPDX-License-Identifier: Apache-2.0
// What the compression kernels are launched with: plain data, passed by value. The host has checked it
// (gpu/operations/compress.h).
#pragma once

#include <cstdint>

#include "reference/spec/layout.h"

namespace kvexact::gpu {

struct CompressArguments {
  const float* state;  // [state blocks, block_stride]; strides in elements
  std::int64_t block_stride;
  std::int64_t row_stride;
  std::int64_t state_width;
  std::int64_t block_size;  // positions a state block
  std::int64_t ratio;
  std::int64_t window_rows;
  float weight_magic;  // WeightConstants of window_rows
  float weight_cutoff;

  std::int64_t tokens;               // num_actual
  const std::int32_t* token_to_req;  // null where nothing is gathered
  const std::int64_t* positions;
  const std::int64_t* slots;
  const std::int64_t* kv_slots;
  const std::int32_t* block_table;
  std::int64_t table_stride;

  const void* norm_weight;  // [head]
  bool norm_weight_bf16;
  float eps;
  const float* cos_sin;
  std::int64_t cos_sin_stride;
  std::int64_t rope_dim;

  std::uint8_t* cache;
  spec::PagedCache placement;
  int page_shift;  // log2 of placement.page_tokens where it is a power of two, else -1

  float* scratch;  // [tokens, scratch_stride]
  std::int64_t scratch_stride;

  bool state_aligned;       // rows of state start at multiples of 16 bytes
  std::int64_t token_step;  // workers that the tokens are dealt out to
  int run_shift;            // log2 of how many neighbours a worker gets at a time
  int zero;                 // 0, which the compiler does not know (see After)
};

}  // namespace kvexact::gpu
