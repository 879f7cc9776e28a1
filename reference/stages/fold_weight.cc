// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/fold_weight.h"

#include <bit>

#include "reference/formats/bf16.h"

namespace kvexact {

float FoldWeight(const IndexerQInputs& in, float weight, float scale) {
  const float scaled = in.codes == QCodes::kE2M1 ? weight : weight * scale;
  return (scaled * in.softmax_scale) * in.head_scale;
}

std::uint32_t StoredWeight(const IndexerQInputs& in, float weight) {
  if (in.weights_out_bf16) return RoundToBf16(weight);
  return weight != weight ? spec::kFp32.canonical_nan : std::bit_cast<std::uint32_t>(weight);
}

}  // namespace kvexact
