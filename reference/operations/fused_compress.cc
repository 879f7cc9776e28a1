// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/fused_compress.h"

namespace kvexact {

void FusedCompress(const Stages& stages, const Policy& policy, const CompressInputs& in, std::int64_t first,
                   std::int64_t last, const CompressOutputs& out) {
  const Strict strict;
  TokenWorkspace<Strict> work;
  StoredToken stored;
  for (std::int64_t t = first; t < last; ++t) {
    LiveToken token;
    if (!stages.locate(in, t, token) || !token.stored()) continue;
    CompressColumns(stages, strict, in, token, work);
    NormaliseAndRotate(stages, strict, in, token, work);
    RoundToken(stages, policy, out.cache.layout, work.row, stored);
    stages.store(stored, out.cache, token.kv_slot, out.cache_bytes);
  }
}

}  // namespace kvexact
