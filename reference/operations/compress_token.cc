// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/compress_token.h"

#include "reference/formats/bf16.h"

namespace kvexact {

RopeAngles AnglesOf(const CompressInputs& in, std::int64_t position) {
  const float* row = in.cos_sin.row(position / in.ratio * in.ratio).data();
  const auto rope = static_cast<int>(in.rope_head_dim);
  const auto first = static_cast<int>(in.head_dim) - rope;
  const bool rotates_whole_head = spec::row(in.op).layout->rope_values == 0;
  return {row, row + rope / 2, first, rope / 2, rotates_whole_head ? 0 : first};
}

void RoundToken(const Stages& stages, const Policy& policy, const spec::Layout& layout, const Strict::Row& row,
                StoredToken& out) {
  const QuantiseRule rule = CompressRule(layout, policy);
  float values[kMaxHeadDim];
  for (int i = 0; i < layout.code_values; ++i) {
    values[i] = policy.bf16_before_quantise ? WidenBf16(RoundToBf16(row.value[i])) : row.value[i];
  }
  const auto size = static_cast<std::size_t>(layout.quant_block);
  for (int b = 0; b < layout.scales(); ++b) {
    const std::span<const float> block{values + b * layout.quant_block, size};
    const int exponent = stages.exponent(rule, stages.absmax(rule, block));
    stages.encode(rule, block, exponent, out.codes + b * layout.quant_block);
    out.scales[b] = StoredScale(layout.scale_type, exponent);
  }
  for (int i = 0; i < layout.rope_values; ++i) out.rope[i] = RoundToBf16(row.value[layout.code_values + i]);
}

}  // namespace kvexact
