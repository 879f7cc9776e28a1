// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/operations/compress_token.h"

namespace kvexact {

// sparse_attn, indexer_fp8 and indexer_mxfp4, which differ by their rows of data alone: gather, softmax
// and weighted sum, RMSNorm, RoPE, quantisation and store of every live token in [first, last).
// Source: the seeds' three fused kernels.
template <class A>
void FusedCompress(const Stages& stages, const Policy& policy, const A& a, const CompressInputs& in, std::int64_t first,
                   std::int64_t last, const CompressOutputs& out) {
  TokenWorkspace<A> work;
  for (std::int64_t t = first; t < last; ++t) {
    LiveToken token;
    if (!stages.locate(in, t, token) || !token.stored()) continue;
    CompressColumns(stages, a, in, token, work);
    FinishToken(stages, policy, a, in, token, work, out);
  }
}

}  // namespace kvexact
