// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/q_head.h"

#include <cstring>

#include "reference/stages/stages.h"

namespace kvexact {

void RoundQHeadValues(const Stages& stages, const Policy& policy, const IndexerQInputs& in, const QHeadValues& values,
                      StoredQHead& out) {
  const auto dim = static_cast<std::size_t>(in.head_dim);
  const bool mxfp4 = in.codes == QCodes::kE2M1;
  const std::span<const float> row{values.rotated, dim};
  // The columns before the rotated ones are bf16 already: rounding keeps them.
  const QuantiseTask task{IndexerQRule(in.codes, policy),
                          mxfp4 ? spec::ScaleType::kUe8m0Byte : spec::ScaleType::kFp32Word,
                          true,
                          mxfp4 ? kMxfp4Block : static_cast<int>(dim),
                          row,
                          row};
  QuantisedValues quantised;
  stages.quantise(stages, task, quantised);
  std::memcpy(out.codes, quantised.codes, dim);
  if (mxfp4) {
    for (std::size_t b = 0; b < dim / kMxfp4Block; ++b) out.scales[b] = static_cast<std::uint8_t>(quantised.stored[b]);
  }
  out.scale = quantised.scale[0];
  out.weight = stages.fold_weight(in, in.weights(values.token, values.head), out.scale);
}

void StoreQHead(const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored, std::int64_t token,
                std::int64_t head, const IndexerQOutputs& out) {
  const auto dim = static_cast<std::size_t>(in.head_dim);
  const std::int64_t cell = token * in.heads + head;
  if (in.codes == QCodes::kE2M1) {
    stages.pack({stored.codes, dim}, out.codes + cell * in.head_dim / 2);
    const std::int64_t blocks = in.head_dim / kMxfp4Block;
    std::memcpy(out.scales + cell * blocks, stored.scales, static_cast<std::size_t>(blocks));
  } else {
    std::memcpy(out.codes + cell * in.head_dim, stored.codes, dim);
  }
  const std::uint32_t weight = stages.stored_weight(in, stored.weight);
  const std::int64_t size = in.weights_out_bf16 ? 2 : 4;
  std::memcpy(static_cast<std::uint8_t*>(out.weights) + cell * size, &weight, static_cast<std::size_t>(size));
}

}  // namespace kvexact
