// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/operations/compress_token.h"

namespace kvexact {

// RMSNorm, RoPE, quantisation and store of every live token in [first, last). load(token, row) fills the row with
// the token's compressed columns. Source: _finalize_norm_rope_quant_store_sparse_attn.
template <class A, class Load>
void Finalize(const Stages& stages, const Policy& policy, const A& a, const CompressInputs& in, std::int64_t first,
              std::int64_t last, const Load& load, const CompressOutputs& out) {
  TokenWorkspace<A> work;
  for (std::int64_t t = first; t < last; ++t) {
    LiveToken token;
    if (!stages.locate_finalize(in, t, token) || !token.stored()) continue;
    load(t, work.row);
    FinishToken(stages, policy, a, in, token, work, out);
  }
}

}  // namespace kvexact
