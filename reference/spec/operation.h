// SPDX-License-Identifier: Apache-2.0
// The operations as rows of data (one row each; the names are those that users type).
#pragma once

#include <cstdint>

#include "reference/spec/layout.h"

namespace kvexact::spec {

enum class Operation : std::uint8_t {
  kSparseAttn,
  kIndexerFp8,
  kIndexerMxfp4,
  kTwoStage,
  kGatherSplit,
  kFinalize,
  kIndexerQFp8,
  kIndexerQMxfp4,
};

enum class Family : std::uint8_t { kCompress, kIndexerQ };

struct OperationRow {
  Operation id;
  const char* name;
  Family family;
  int head_dim;
  const Layout* layout;  // of the paged KV cache; null where none is written
  bool reads_state;      // gathers from the state cache
  const char* summary;
};

inline constexpr OperationRow kOperations[] = {
    {Operation::kSparseAttn, "sparse_attn", Family::kCompress, 512, &kSparseAttnLayout, true,
     "compress, RMSNorm, RoPE, FP8 UE8M0 store; head 512"},
    {Operation::kIndexerFp8, "indexer_fp8", Family::kCompress, 128, &kIndexerFp8Layout, true,
     "compress, RMSNorm, RoPE, FP8 store with one fp32 scale; head 128"},
    {Operation::kIndexerMxfp4, "indexer_mxfp4", Family::kCompress, 128, &kIndexerMxfp4Layout, true,
     "compress, RMSNorm, RoPE, MXFP4 store; head 128"},
    {Operation::kTwoStage, "two_stage", Family::kCompress, 512, &kSparseAttnLayout, true,
     "decode tokens in one pass, prefill tokens through gather_split and finalize"},
    {Operation::kGatherSplit, "gather_split", Family::kCompress, 512, nullptr, true,
     "compressed fp32 rows into scratch, split over the head"},
    {Operation::kFinalize, "finalize", Family::kCompress, 512, &kSparseAttnLayout, false,
     "RMSNorm, RoPE, FP8 store from scratch rows"},
    {Operation::kIndexerQFp8, "indexer_q_fp8", Family::kIndexerQ, 128, nullptr, false,
     "RoPE and FP8 of the indexer's Q, scale folded into the weights"},
    {Operation::kIndexerQMxfp4, "indexer_q_mxfp4", Family::kIndexerQ, 128, nullptr, false,
     "RoPE and MXFP4 of the indexer's Q, weights folded"},
};

constexpr const OperationRow& row(Operation op) { return kOperations[static_cast<int>(op)]; }

}  // namespace kvexact::spec
