// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/compress_token.h"

#include <cstring>

namespace kvexact {

RopeAngles AnglesOf(const Stages& stages, const CompressInputs& in, std::int64_t position) {
  return stages.angles({&in.cos_sin, position, in.ratio, static_cast<int>(in.head_dim),
                        static_cast<int>(in.rope_head_dim), RotatesWholeHead(in)});
}

void RoundToken(const Stages& stages, const Policy& policy, const spec::Layout& layout, const float* rotated,
                const float* unrotated, StoredToken& out) {
  const auto codes = static_cast<std::size_t>(layout.code_values);
  const QuantiseTask task{CompressRule(layout, policy), layout.scale_type, policy.bf16_before_quantise,
                          layout.quant_block,           {rotated, codes},  {unrotated, codes}};
  QuantisedValues quantised;
  stages.quantise(stages, task, quantised);
  std::memcpy(out.codes, quantised.codes, codes);
  std::memcpy(out.scales, quantised.stored, static_cast<std::size_t>(layout.scales()) * sizeof *quantised.stored);
  stages.round_rope({rotated + codes, static_cast<std::size_t>(layout.rope_values)}, out.rope);
}

}  // namespace kvexact
