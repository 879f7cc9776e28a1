// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/dispatch.h"

namespace kvexact {

spec::Operation DispatchCompress(std::int64_t head_dim, bool use_fp4_cache) {
  if (head_dim == 512) return spec::Operation::kSparseAttn;
  return use_fp4_cache ? spec::Operation::kIndexerMxfp4 : spec::Operation::kIndexerFp8;
}

}  // namespace kvexact
