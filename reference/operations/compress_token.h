// SPDX-License-Identifier: Apache-2.0
// One token of a compression operation, over either arithmetic.
#pragma once

#include "reference/operations/inputs.h"
#include "reference/stages/stages.h"

namespace kvexact {

// Columns [0, layout.code_values) hold what is quantised, the next layout.rope_values the rotated
// values; for gather_split all columns hold the compressed values.
template <class A>
struct TokenWorkspace {
  Window window;
  typename A::Row row;
  typename A::Row unrotated;  // filled where quantised columns rotate (head 128)
};

// The fp32 values of a row, for rounding: an arithmetic that runs whole operations has such a function.
// `buffer` holds row.columns values and may be what is returned.
inline const float* ValuesOf(const Strict&, const Strict::Row& row, float*) { return row.value; }

// Whether quantised columns rotate. At head 128 the pairs before the rotated ones turn by the identity,
// which carries a NaN to its partner.
inline bool RotatesWholeHead(const CompressInputs& in) { return spec::row(in.op).layout->rope_values == 0; }

// Gather, softmax and weighted sum.
template <class A>
void CompressColumns(const Stages& stages, const A& a, const CompressInputs& in, const LiveToken& token,
                     TokenWorkspace<A>& work) {
  stages.gather(in, token, work.window);
  stages.over(a).weighted_mean(a, work.window, work.row);
}

// The angles of a token at `position`.
RopeAngles AnglesOf(const Stages& stages, const CompressInputs& in, std::int64_t position);

// RMSNorm and RoPE of the columns in work.row.
template <class A>
void NormaliseAndRotate(const Stages& stages, const A& a, const CompressInputs& in, const LiveToken& token,
                        TokenWorkspace<A>& work) {
  stages.over(a).rms_norm(a, work.row, {in.norm_weight.data(), static_cast<std::size_t>(in.norm_weight.size())},
                          in.rms_norm_eps);
  if (RotatesWholeHead(in)) work.unrotated = work.row;
  stages.over(a).rope(a, work.row, AnglesOf(stages, in, token.position));
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

// bf16, scales and codes of a token's values: layout.code_values + layout.rope_values rotated ones, and the
// quantised ones before RoPE.
void RoundToken(const Stages& stages, const Policy& policy, const spec::Layout& layout, const float* rotated,
                const float* unrotated, StoredToken& out);

// The same for an evaluated workspace.
template <class A>
void RoundToken(const Stages& stages, const Policy& policy, const spec::Layout& layout, const A& a,
                const TokenWorkspace<A>& work, StoredToken& out) {
  float rotated[kMaxHeadDim];
  float unrotated[kMaxHeadDim];
  const float* values = ValuesOf(a, work.row, rotated);
  const bool apart = layout.rope_values == 0;
  RoundToken(stages, policy, layout, values, apart ? ValuesOf(a, work.unrotated, unrotated) : values, out);
}

// Rounds and stores a token whose columns in work.row are compressed.
template <class A>
void FinishToken(const Stages& stages, const Policy& policy, const A& a, const CompressInputs& in,
                 const LiveToken& token, TokenWorkspace<A>& work, const CompressOutputs& out) {
  StoredToken stored;
  NormaliseAndRotate(stages, a, in, token, work);
  RoundToken(stages, policy, out.cache.layout, a, work, stored);
  stages.store(stages, stored, out.cache, token.kv_slot, out.cache_bytes);
}

}  // namespace kvexact
