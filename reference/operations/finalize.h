// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/operations/compress_token.h"

namespace kvexact {

// RMSNorm, RoPE, quantisation and store of every live token in [first, last) from its row of scratch
// (row t - first). Source: _finalize_norm_rope_quant_store_sparse_attn.
void Finalize(const Stages& stages, const Policy& policy, const CompressInputs& in, std::int64_t first,
              std::int64_t last, const float* scratch, std::int64_t scratch_stride, const CompressOutputs& out);

}  // namespace kvexact
