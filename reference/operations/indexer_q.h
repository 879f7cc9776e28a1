// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/formats/bf16.h"
#include "reference/operations/compress_token.h"
#include "reference/operations/inputs.h"
#include "reference/stages/stages.h"

namespace kvexact {

// Values of one head before rounding: bf16 Q widened, its last rope_head_dim columns rotated at the
// token's position. The others are not rotated and not rounded.
template <class A>
void EvaluateQHead(const Stages& stages, const A& a, const IndexerQInputs& in, std::int64_t token, std::int64_t head,
                   typename A::Row& row) {
  float values[kMaxHeadDim];
  const std::uint16_t* q = in.q.row(token * in.heads + head).data();
  for (std::int64_t i = 0; i < in.head_dim; ++i) values[i] = WidenBf16(q[i]);
  a.Assign({values, static_cast<std::size_t>(in.head_dim)}, row);
  stages.over(a).rope(a, row,
                      stages.angles({&in.cos_sin, in.positions[token], 1, static_cast<int>(in.head_dim),
                                     static_cast<int>(in.rope_head_dim), false}));
}

inline void RoundQHead(const Stages& stages, const Policy& policy, const IndexerQInputs& in, std::int64_t token,
                       std::int64_t head, const Strict::Row& row, StoredQHead& out) {
  stages.round_q_head(stages, policy, in, {token, head, row.value}, out);
}

// A launch of indexer_q_fp8 or indexer_q_mxfp4, through the launcher: every head of tokens [0, num_actual).
// Source: fused_indexer_q_rope_quant.
template <class A>
void RunIndexerQ(const Stages& stages, const Policy& policy, const A& a, const IndexerQInputs& inputs,
                 const IndexerQOutputs& outputs) {
  IndexerQLaunch launch{inputs, outputs};
  stages.launch_q(launch);
  const IndexerQInputs& in = launch.in;
  typename A::Row row;
  StoredQHead stored;
  float buffer[kMaxHeadDim];
  for (std::int64_t t = 0; t < in.num_actual; ++t) {
    for (std::int64_t h = 0; h < in.heads; ++h) {
      EvaluateQHead(stages, a, in, t, h, row);
      stages.round_q_head(stages, policy, in, {t, h, ValuesOf(a, row, buffer)}, stored);
      stages.store_q_head(stages, in, stored, t, h, launch.out);
    }
  }
}

// The same over the strict arithmetic.
void IndexerQ(const Stages& stages, const Policy& policy, const IndexerQInputs& in, const IndexerQOutputs& out);

}  // namespace kvexact
