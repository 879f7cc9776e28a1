// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/bench/device.h"
#include "gpu/operations/indexer_q.h"

namespace kvexact::gpu::bench {

struct IndexerQWorkload {
  IndexerQDescription description;
  std::int64_t bytes = 0;  // each input byte that must be read and each output byte, once
  std::vector<Memory> memory;
};

// 64 heads, bf16 weights, fp32 weights out, positions below 65,536.
IndexerQWorkload MakeIndexerQWorkload(std::int64_t tokens, bool mxfp4);

}  // namespace kvexact::gpu::bench
