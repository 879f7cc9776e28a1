// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/spec/operation.h"

namespace kvexact {

// The fused operation that a launcher runs: head 512 is sparse_attn whatever use_fp4_cache says, any
// other head an indexer operation. Source: compress_norm_rope_store_triton.
spec::Operation DispatchCompress(std::int64_t head_dim, bool use_fp4_cache);

}  // namespace kvexact
