// SPDX-License-Identifier: Apache-2.0
// Quantises one head of Q with the installed model: the pair (1, 6) is the byte 0x72 under the scale 2^0.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "reference/operations/indexer_q.h"
#include "reference/operations/pick_num_splits.h"

int main() {
  std::vector<std::uint16_t> q(128, 0);
  q[0] = 0x3F80;
  q[1] = 0x40C0;
  const std::vector<float> cos_sin(64, 1.0F);
  const float weight = 3.0F;
  const std::int64_t position = 0;

  using kvexact::MatrixView;
  using kvexact::VectorView;
  const kvexact::IndexerQInputs in{
      .codes = kvexact::QCodes::kE2M1,
      .tokens = 1,
      .heads = 1,
      .head_dim = 128,
      .rope_head_dim = 64,
      .num_actual = 1,
      .softmax_scale = 0.5F,
      .head_scale = 0.25F,
      .weights_out_bf16 = false,
      .positions = VectorView<std::int64_t>(&position, 1),
      .q = MatrixView<std::uint16_t>(q.data(), 1, 128, Eigen::OuterStride<>(128)),
      .cos_sin = MatrixView<float>(cos_sin.data(), 1, 64, Eigen::OuterStride<>(64)),
      .weights = MatrixView<float>(&weight, 1, 1, Eigen::OuterStride<>(1)),
  };
  std::vector<std::uint8_t> codes(64, 0xEE);
  std::vector<std::uint8_t> scales(4, 0xEE);
  float folded = 0;
  kvexact::IndexerQ(kvexact::SeedStages(), kvexact::SeedPolicy(), in, {codes.data(), scales.data(), &folded});

  const bool right = codes[0] == 0x72 && codes[1] == 0 && scales[0] == 0x7F && scales[1] == 0x01 && folded == 0.375F &&
                     kvexact::PickNumSplits(1, 128, 512, 132) == 16;
  std::printf("codes %02X scale %02X weight %g\n", codes[0], scales[0], static_cast<double>(folded));
  return right ? 0 : 1;
}
