// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/operations/compress_token.h"

namespace kvexact {

// The compressed columns of every live token in [first, last) as fp32 rows of scratch: token t goes to
// row t - first. Rows of skipped tokens stay as they are. The number of splits over the head changes
// nothing, since columns are independent. NaN is stored as 0x7FFFFFFF.
// Source: _compress_gather_split_sparse_attn.
void GatherSplit(const Stages& stages, const CompressInputs& in, std::int64_t first, std::int64_t last, float* scratch,
                 std::int64_t scratch_stride);

}  // namespace kvexact
