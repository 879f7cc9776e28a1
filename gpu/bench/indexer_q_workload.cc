// SPDX-License-Identifier: Apache-2.0
#include "gpu/bench/indexer_q_workload.h"

#include <cmath>
#include <random>

namespace kvexact::gpu::bench {

IndexerQWorkload MakeIndexerQWorkload(std::int64_t tokens, bool mxfp4) {
  constexpr std::int64_t kHeads = 64;
  constexpr std::int64_t kDim = 128;
  constexpr std::int64_t kPositions = 65536;
  const std::int64_t rows = tokens * kHeads;
  const std::int64_t code_bytes = mxfp4 ? kDim / 2 : kDim;
  IndexerQWorkload w;
  const auto keep = [&](Memory memory) {
    w.memory.push_back(std::move(memory));
    return w.memory.back().as<void>();
  };
  std::mt19937_64 random(1);
  std::vector<std::int64_t> positions;
  for (std::int64_t t = 0; t < tokens; ++t) positions.push_back(static_cast<std::int64_t>(random() % kPositions));

  IndexerQDescription& d = w.description;
  d.codes = mxfp4 ? QCodes::kE2m1 : QCodes::kE4m3Fn;
  d.tokens = tokens;
  d.heads = kHeads;
  d.head_dim = kDim;
  d.rope_head_dim = 64;
  d.softmax_scale = 1.0F / std::sqrt(static_cast<float>(kDim));
  d.head_scale = 1.0F / std::sqrt(static_cast<float>(kHeads));
  auto* q = static_cast<std::uint16_t*>(keep(Memory(rows * kDim * 2)));
  FillNormalBf16(q, rows * kDim, 2);
  d.q = q;
  d.q_token_stride = kHeads * kDim;
  d.q_head_stride = kDim;
  d.positions = static_cast<std::int64_t*>(keep(Upload(positions)));
  auto* cos_sin = static_cast<float*>(keep(Memory(kPositions * 64 * 4)));
  FillNormal(cos_sin, kPositions * 64, 3);
  d.cos_sin = cos_sin;
  d.cos_sin_stride = 64;
  auto* weights = static_cast<std::uint16_t*>(keep(Memory(rows * 2)));
  FillNormalBf16(weights, rows, 4);
  d.weights = weights;
  d.weights_stride = kHeads;
  d.weights_bf16 = true;
  d.code_bytes = static_cast<std::uint8_t*>(keep(Memory(rows * code_bytes)));
  d.scales = static_cast<std::uint8_t*>(keep(Memory(rows * 4)));
  d.weights_out = keep(Memory(rows * 4));
  w.bytes = rows * (kDim * 2 + code_bytes + (mxfp4 ? 4 : 0) + 2 + 4) + tokens * (8 + 256);
  return w;
}

}  // namespace kvexact::gpu::bench
