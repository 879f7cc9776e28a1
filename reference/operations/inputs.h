// SPDX-License-Identifier: Apache-2.0
// What an operation reads and writes, as views. The views are trusted: harness/case checks every
// entry that a live token reads before an operation sees it.
#pragma once

#include <cstdint>

#include "reference/operations/tensor_view.h"
#include "reference/spec/layout.h"
#include "reference/spec/operation.h"

namespace kvexact {

// Inputs of the compression operations. Shapes in brackets; positions and slots in tokens, strides
// in elements. Where an operation does not read a tensor, its view is empty.
struct CompressInputs {
  spec::Operation op;
  std::int64_t head_dim;
  std::int64_t rope_head_dim;
  std::int64_t ratio;  // compress_ratio
  bool overlap;
  std::int64_t block_size;        // positions a state block
  std::int64_t state_width;       // KV in [0, state_width), score in [state_width, 2 * state_width)
  std::int64_t state_row_stride;  // elements from position to position within a state block
  float rms_norm_eps;
  std::int64_t num_actual;         // tokens at and behind it are inert
  std::int64_t num_decode_tokens;  // two_stage only; clamped to [0, num_actual]
  std::int64_t num_splits;         // gather_split only; the result does not depend on it

  MatrixView<float> state_cache;             // [state blocks, block stride]
  VectorView<std::int32_t> token_to_req;     // [tokens]
  VectorView<std::int64_t> positions;        // [tokens]
  VectorView<std::int64_t> slot_mapping;     // [tokens], negative: skip
  VectorView<std::int64_t> kv_slot_mapping;  // [tokens], negative: skip
  MatrixView<std::int32_t> block_table;      // [requests, row stride]
  VectorView<float> norm_weight;             // [head_dim], bf16 weights widened exactly
  MatrixView<float> cos_sin;                 // [positions, >= rope_head_dim]: cosines, then sines
  MatrixView<float> scratch;                 // finalize only: [tokens, head_dim]

  std::int64_t window_rows() const { return ratio * (overlap ? 2 : 1); }
};

// Outputs of the compression operations: the paged cache's bytes, or scratch rows (gather_split).
struct CompressOutputs {
  spec::PagedCache cache;
  std::uint8_t* cache_bytes = nullptr;
  float* scratch = nullptr;         // [tokens, scratch_stride]
  std::int64_t scratch_stride = 0;  // elements
};

enum class QCodes : std::uint8_t { kE4M3Fn, kE4M3Fnuz, kE2M1 };

// Inputs of the indexer-Q operations.
struct IndexerQInputs {
  QCodes codes;
  std::int64_t tokens;
  std::int64_t heads;
  std::int64_t head_dim;
  std::int64_t rope_head_dim;
  std::int64_t num_actual;
  float softmax_scale;
  float head_scale;
  bool weights_out_bf16;

  VectorView<std::int64_t> positions;  // [tokens]
  MatrixView<std::uint16_t> q;         // bf16 bits, [tokens * heads, head_dim]
  MatrixView<float> cos_sin;           // [positions, >= rope_head_dim]; a bf16 table is widened exactly
  MatrixView<float> weights;           // [tokens, heads]; bf16 weights are widened exactly
};

struct IndexerQOutputs {
  std::uint8_t* codes = nullptr;   // [tokens, heads, head_dim] or [tokens, heads, head_dim / 2]
  std::uint8_t* scales = nullptr;  // MXFP4: [tokens, heads, head_dim / 32] UE8M0; else null
  void* weights = nullptr;         // [tokens, heads], fp32 or bf16 bits
};

}  // namespace kvexact
