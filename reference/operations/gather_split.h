// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/operations/compress_token.h"

namespace kvexact {

// The compressed columns of every live token in [first, last): save(token, row) takes each; skipped tokens have none.
// The number of splits over the head changes nothing, since columns are independent.
// Source: _compress_gather_split_sparse_attn.
template <class A, class Save>
void GatherSplit(const Stages& stages, const A& a, const CompressInputs& in, std::int64_t first, std::int64_t last,
                 const Save& save) {
  TokenWorkspace<A> work;
  for (std::int64_t t = first; t < last; ++t) {
    LiveToken token;
    if (!stages.locate(in, t, token)) continue;
    CompressColumns(stages, a, in, token, work);
    save(t, work.row);
  }
}

// values as a row of scratch; NaN is stored as 0x7FFFFFFF.
void StoreScratchRow(const float* values, std::int64_t count, float* row);

}  // namespace kvexact
