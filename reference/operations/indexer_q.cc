// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/indexer_q.h"

#include <bit>
#include <cstring>

#include "reference/formats/bf16.h"
#include "reference/formats/e2m1.h"

namespace kvexact {

template <class A>
void EvaluateQHead(const Stages& stages, const A& a, const IndexerQInputs& in, std::int64_t token, std::int64_t head,
                   typename A::Row& row) {
  float values[kMaxHeadDim];
  const std::uint16_t* q = in.q.row(token * in.heads + head).data();
  for (std::int64_t i = 0; i < in.head_dim; ++i) values[i] = WidenBf16(q[i]);
  a.Assign({values, static_cast<std::size_t>(in.head_dim)}, row);
  const float* table = in.cos_sin.row(in.positions[token]).data();
  const auto rope = static_cast<int>(in.rope_head_dim);
  const int first = static_cast<int>(in.head_dim) - rope;
  stages.over(a).rope(a, row, {table, table + rope / 2, first, rope / 2, first});
}

template void EvaluateQHead(const Stages&, const Strict&, const IndexerQInputs&, std::int64_t, std::int64_t,
                            Strict::Row&);
template void EvaluateQHead(const Stages&, const Enclosure&, const IndexerQInputs&, std::int64_t, std::int64_t,
                            Enclosure::Row&);

float FoldWeight(const IndexerQInputs& in, float weight, int exponent) {
  const float scaled = in.codes == QCodes::kE2M1 ? weight : weight * PowerOfTwo(exponent);
  return (scaled * in.softmax_scale) * in.head_scale;
}

std::uint32_t StoredWeight(const IndexerQInputs& in, float weight) {
  if (in.weights_out_bf16) return RoundToBf16(weight);
  return weight != weight ? spec::kFp32.canonical_nan : std::bit_cast<std::uint32_t>(weight);
}

void RoundQHead(const Stages& stages, const Policy& policy, const IndexerQInputs& in, std::int64_t token,
                std::int64_t head, const Strict::Row& row, StoredQHead& out) {
  const QuantiseRule rule = IndexerQRule(in.codes, policy);
  const auto dim = static_cast<int>(in.head_dim);
  const int first = dim - static_cast<int>(in.rope_head_dim);
  float values[kMaxHeadDim];
  for (int i = 0; i < dim; ++i) values[i] = i < first ? row.value[i] : WidenBf16(RoundToBf16(row.value[i]));
  const bool mxfp4 = in.codes == QCodes::kE2M1;
  const int block = mxfp4 ? kMxfp4Block : dim;
  for (int b = 0; b < dim / block; ++b) {
    const std::span<const float> part{values + b * block, static_cast<std::size_t>(block)};
    const int exponent = stages.exponent(rule, stages.absmax(rule, part));
    stages.encode(rule, part, exponent, out.codes + b * block);
    if (mxfp4) out.scales[b] = Ue8m0FiniteByte(exponent);
    out.exponent = exponent;
  }
  out.weight = FoldWeight(in, in.weights(token, head), out.exponent);
}

void IndexerQ(const Stages& stages, const Policy& policy, const IndexerQInputs& in, const IndexerQOutputs& out) {
  const Strict strict;
  Strict::Row row;
  StoredQHead stored;
  const bool mxfp4 = in.codes == QCodes::kE2M1;
  const std::int64_t code_bytes = mxfp4 ? in.head_dim / 2 : in.head_dim;
  const std::int64_t blocks = in.head_dim / kMxfp4Block;
  const std::int64_t weight_bytes = in.weights_out_bf16 ? 2 : 4;
  for (std::int64_t t = 0; t < in.num_actual; ++t) {
    for (std::int64_t h = 0; h < in.heads; ++h) {
      EvaluateQHead(stages, strict, in, t, h, row);
      RoundQHead(stages, policy, in, t, h, row, stored);
      const std::int64_t cell = t * in.heads + h;
      std::uint8_t* codes = out.codes + cell * code_bytes;
      if (mxfp4) {
        for (std::int64_t i = 0; i < code_bytes; ++i) {
          codes[i] = PackNibbles(stored.codes[2 * i], stored.codes[2 * i + 1]);
        }
        std::memcpy(out.scales + cell * blocks, stored.scales, static_cast<std::size_t>(blocks));
      } else {
        std::memcpy(codes, stored.codes, static_cast<std::size_t>(code_bytes));
      }
      const std::uint32_t weight = StoredWeight(in, stored.weight);
      std::memcpy(static_cast<std::uint8_t*>(out.weights) + cell * weight_bytes, &weight,
                  static_cast<std::size_t>(weight_bytes));
    }
  }
}

}  // namespace kvexact
