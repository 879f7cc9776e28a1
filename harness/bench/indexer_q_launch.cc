// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>

#include "harness/bench/workload.h"

namespace kvexact::bench {
namespace {

Memory NormalFloats(std::int64_t count, std::uint64_t seed) {
  Memory memory(count * 4);
  FillNormal(static_cast<float*>(memory.data()), count, seed);
  return memory;
}

Memory NormalBf16(std::int64_t count, std::uint64_t seed) {
  Memory memory(count * 2);
  FillNormalBf16(static_cast<std::uint16_t*>(memory.data()), count, seed);
  return memory;
}

}  // namespace

std::unique_ptr<DeviceLaunch> MakeIndexerQLaunch(const WorkloadRow& row, std::uint64_t seed) {
  constexpr std::int64_t kDim = 128;
  constexpr std::int64_t kRope = 64;
  const std::int64_t rows = row.tokens * kQHeads;
  const bool mxfp4 = row.op == spec::Operation::kIndexerQMxfp4;
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> positions;
  for (std::int64_t t = 0; t < row.tokens; ++t) {
    positions.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kQPositions)));
  }

  auto launch = std::make_unique<DeviceLaunch>();
  kvexact_params& params = launch->params();
  params.operation = static_cast<std::int32_t>(row.op);
  params.head_dim = kDim;
  params.rope_head_dim = kRope;
  params.num_actual = row.tokens;
  params.softmax_scale = 1.0F / std::sqrt(static_cast<float>(kDim));
  params.head_scale = 1.0F / std::sqrt(static_cast<float>(kQHeads));
  params.q_code_type = mxfp4 ? KVEXACT_E2M1 : KVEXACT_E4M3FN;

  launch->Add("index_q", KVEXACT_BF16, {row.tokens, kQHeads, kDim}, NormalBf16(rows * kDim, 3 * seed));
  launch->Add("positions", KVEXACT_I64, {row.tokens}, Upload(positions));
  launch->Add("cos_sin_cache", KVEXACT_F32, {kQPositions, kRope}, NormalFloats(kQPositions * kRope, 3 * seed + 1));
  launch->Add("index_weights", KVEXACT_BF16, {row.tokens, kQHeads}, NormalBf16(rows, 3 * seed + 2));
  launch->Add(mxfp4 ? "q_packed" : "q_fp8", KVEXACT_U8, {row.tokens, kQHeads, mxfp4 ? kDim / 2 : kDim},
              Memory(rows * kDim), Access::kOutput);
  if (mxfp4) launch->Add("q_scale", KVEXACT_U8, {row.tokens, kQHeads, 4}, Memory(rows * 4), Access::kOutput);
  launch->Add("weights_out", KVEXACT_F32, {row.tokens, kQHeads}, Memory(rows * 4), Access::kOutput);
  return launch;
}

}  // namespace kvexact::bench
