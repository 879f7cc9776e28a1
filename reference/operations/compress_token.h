// SPDX-License-Identifier: Apache-2.0
// One token of a compression operation, over either arithmetic.
#pragma once

#include <vector>

#include "reference/operations/inputs.h"
#include "reference/stages/stages.h"

namespace kvexact {

// Columns [0, layout.code_values) hold what is quantised, the next layout.rope_values the rotated
// values; for gather_split all columns hold the compressed values.
template <class A>
struct TokenWorkspace {
  Window window;
  typename A::Row row;
};

// Gather, softmax and weighted sum.
template <class A>
void CompressColumns(const Stages& stages, const A& a, const CompressInputs& in, const LiveToken& token,
                     TokenWorkspace<A>& work) {
  stages.gather(in, token, work.window);
  stages.over(a).weighted_mean(a, work.window, work.row);
}

// The cos/sin row and the columns that it turns for a token at `position`. At head 128 the pairs before
// the rotated ones turn by the identity, which carries a NaN to its partner.
RopeAngles AnglesOf(const CompressInputs& in, std::int64_t position);

// RMSNorm and RoPE of the columns in work.row.
template <class A>
void NormaliseAndRotate(const Stages& stages, const A& a, const CompressInputs& in, const LiveToken& token,
                        TokenWorkspace<A>& work) {
  stages.over(a).rms_norm(a, work.row, {in.norm_weight.data(), static_cast<std::size_t>(in.norm_weight.size())},
                          in.rms_norm_eps);
  stages.over(a).rope(a, work.row, AnglesOf(in, token.position));
}

// Everything before rounding, for any compression operation.
template <class A>
void EvaluateToken(const Stages& stages, const A& a, const CompressInputs& in, const LiveToken& token,
                   TokenWorkspace<A>& work) {
  if (in.op == spec::Operation::kFinalize) {
    a.Assign({in.scratch.row(token.index).data(), static_cast<std::size_t>(in.head_dim)}, work.row);
  } else {
    CompressColumns(stages, a, in, token, work);
  }
  if (in.op != spec::Operation::kGatherSplit) NormaliseAndRotate(stages, a, in, token, work);
}

// bf16, scales and codes of a token's values.
void RoundToken(const Stages& stages, const Policy& policy, const spec::Layout& layout, const Strict::Row& row,
                StoredToken& out);

}  // namespace kvexact
