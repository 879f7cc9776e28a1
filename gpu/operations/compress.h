// SPDX-License-Identifier: Apache-2.0
// The compression operations on a GPU: sparse_attn, indexer_fp8, indexer_mxfp4, two_stage, gather_split, finalize.
//
// Launch() enqueues kernels on the caller's stream and returns. It allocates nothing, needs no workspace, does not
// synchronise and may be captured in a graph. Results are those of docs/numerics.md to the last bit, on any device and
// in any launch configuration. Offsets are 64 bits wide throughout.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/operations/machine.h"
#include "gpu/operations/status.h"
#include "reference/spec/layout.h"
#include "reference/spec/operation.h"

namespace kvexact::gpu {

// One launch. Pointers are device memory; strides and sizes are in elements unless bytes are said. Where an operation
// does not use a field, it keeps its default. Tokens at and behind num_actual are inert. Of a token with a negative
// slot, or one that ends no window, only its entries in slots, positions, token_to_req and kv_slots are loaded, and
// nothing follows from them.
struct CompressDescription {
  spec::Operation op{};
  std::int64_t head_dim = 0;       // 512, or 128 for the indexer operations
  std::int64_t rope_head_dim = 0;  // even, at most head_dim; 64 at head 512
  std::int64_t ratio = 1;
  bool overlap = false;
  float rms_norm_eps = 0;
  std::int64_t num_actual = 0;
  std::int64_t num_decode_tokens = 0;  // two_stage; any value. One pass serves both slices: the result is the same
  std::int64_t num_splits = 1;         // gather_split: a divisor of head_dim; the result does not depend on it

  const float* state_cache = nullptr;  // block b, row r: state_cache + b * state_block_stride + r * state_row_stride
  std::int64_t block_size = 1;         // positions a state block
  std::int64_t state_width = 0;        // KV in [0, state_width), scores in [state_width, 2 * state_width)
  std::int64_t state_block_stride = 0;
  std::int64_t state_row_stride = 0;

  const std::int32_t* token_to_req = nullptr;  // [num_actual]
  const std::int64_t* positions = nullptr;     // [num_actual]
  const std::int64_t* slots = nullptr;         // [num_actual], negative: skip
  const std::int64_t* kv_slots = nullptr;      // [num_actual], negative: skip; not gather_split
  const std::int32_t* block_table = nullptr;   // [requests, block_table_stride]
  std::int64_t block_table_stride = 0;

  const void* norm_weight = nullptr;  // [head_dim], fp32 or bf16
  bool norm_weight_bf16 = false;
  const float* cos_sin = nullptr;  // [positions, cos_sin_stride]: rope_head_dim / 2 cosines, then as many sines
  std::int64_t cos_sin_stride = 0;

  std::uint8_t* cache = nullptr;  // cache_placement.base_offset bytes before page 0
  spec::PagedCache cache_placement{};

  const float* scratch = nullptr;  // finalize: [num_actual, scratch_stride]
  float* scratch_out = nullptr;    // gather_split: the same
  std::int64_t scratch_stride = 0;
};

// Says what is wrong with a description, without a device. An empty batch (num_actual 0) is right.
Status Check(const CompressDescription& description);

// Checks, then launches on the current device.
Status Launch(const CompressDescription& description, cudaStream_t stream);

// The same as if the device had these properties: another choice of kernels and grids, the same results.
Status Launch(const CompressDescription& description, const Machine& machine, cudaStream_t stream);

}  // namespace kvexact::gpu
