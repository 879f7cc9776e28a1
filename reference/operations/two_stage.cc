// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/two_stage.h"

#include <algorithm>
#include <vector>

#include "reference/operations/finalize.h"
#include "reference/operations/fused_compress.h"
#include "reference/operations/gather_split.h"

namespace kvexact {

void TwoStage(const Stages& stages, const Policy& policy, const CompressInputs& in, const CompressOutputs& out) {
  const std::int64_t decode = std::clamp<std::int64_t>(in.num_decode_tokens, 0, in.num_actual);
  const std::int64_t prefill = in.num_actual - decode;
  std::vector<float> scratch(static_cast<std::size_t>(prefill * in.head_dim));
  GatherSplit(stages, in, decode, in.num_actual, scratch.data(), in.head_dim);
  Finalize(stages, policy, in, decode, in.num_actual, scratch.data(), in.head_dim, out);
  FusedCompress(stages, policy, in, 0, decode, out);
}

}  // namespace kvexact
