// SPDX-License-Identifier: Apache-2.0
// indexer_q_fp8 and indexer_q_mxfp4 on a GPU. Launch() behaves as that of gpu/operations/compress.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/operations/machine.h"
#include "gpu/operations/status.h"

namespace kvexact::gpu {

enum class QCodes { kE4m3Fn, kE4m3Fnuz, kE2m1 };

// One launch. Pointers are device memory, strides are in elements.
struct IndexerQDescription {
  QCodes codes{};
  std::int64_t tokens = 0;  // num_actual
  std::int64_t heads = 0;
  std::int64_t head_dim = 0;       // 128
  std::int64_t rope_head_dim = 0;  // even, at most head_dim
  float softmax_scale = 1;
  float head_scale = 1;

  const std::uint16_t* q = nullptr;  // bf16 bits: token t, head h at q + t * q_token_stride + h * q_head_stride
  std::int64_t q_token_stride = 0;
  std::int64_t q_head_stride = 0;
  const std::int64_t* positions = nullptr;  // [tokens]
  const void* cos_sin = nullptr;            // [positions, cos_sin_stride], fp32 or bf16
  std::int64_t cos_sin_stride = 0;
  bool cos_sin_bf16 = false;
  const void* weights = nullptr;  // [tokens, weights_stride], fp32 or bf16
  std::int64_t weights_stride = 0;
  bool weights_bf16 = false;

  std::uint8_t* code_bytes = nullptr;  // [tokens, heads, 128], MXFP4 [tokens, heads, 64]
  std::uint8_t* scales = nullptr;      // MXFP4: [tokens, heads, 4] UE8M0
  void* weights_out = nullptr;         // [tokens, heads], fp32 or (MXFP4) bf16
  bool weights_out_bf16 = false;
};

Status Check(const IndexerQDescription& description);
Status Launch(const IndexerQDescription& description, cudaStream_t stream);

// The same as if the device had these properties: another choice of kernels and grids, the same results.
Status Launch(const IndexerQDescription& description, const Machine& machine, cudaStream_t stream);

}  // namespace kvexact::gpu
