// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/operations/inputs.h"
#include "reference/stages/stages.h"

namespace kvexact {

inline constexpr int kMxfp4Block = 32;

// What one (token, head) stores.
struct StoredQHead {
  std::uint8_t codes[kMaxHeadDim];    // one an element; a nibble for E2M1
  std::uint8_t scales[kMaxHeadDim / kMxfp4Block];  // MXFP4: UE8M0
  int exponent;                       // FP8: of the scale that the weight carries
  float weight;                       // folded, before a rounding to bf16
};

// Values of one head before rounding: bf16 Q widened, its last rope_head_dim columns rotated at the
// token's position. The others are not rotated and not rounded.
template <class A>
void EvaluateQHead(const Stages& stages, const A& a, const IndexerQInputs& in, std::int64_t token, std::int64_t head,
                   typename A::Row& row);

// The folded weight (order of docs/numerics.md). `exponent` is that of the FP8 scale; MXFP4 folds none.
float FoldWeight(const IndexerQInputs& in, float weight, int exponent);

// Folded weight as stored: fp32 or bf16 bits, NaN canonical.
std::uint32_t StoredWeight(const IndexerQInputs& in, float weight);

void RoundQHead(const Stages& stages, const Policy& policy, const IndexerQInputs& in, std::int64_t token,
                std::int64_t head, const Strict::Row& row, StoredQHead& out);

// indexer_q_fp8 and indexer_q_mxfp4: every head of tokens [0, num_actual).
// Source: fused_indexer_q_rope_quant.
void IndexerQ(const Stages& stages, const Policy& policy, const IndexerQInputs& in, const IndexerQOutputs& out);

}  // namespace kvexact
