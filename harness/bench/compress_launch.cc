// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <random>

#include "harness/backend/abi_layout.h"
#include "harness/bench/workload.h"
#include "reference/spec/layout.h"

namespace kvexact::bench {
namespace {

std::vector<float> Uniform(std::int64_t count, float low, float high, std::mt19937_64& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = low + (high - low) * static_cast<float>(random() >> 40) * 0x1p-24F;
  return values;
}

// Whose token each is, and where in its request.
struct Tokens {
  std::vector<std::int64_t> positions;
  std::vector<std::int32_t> requests;
};

Tokens MakeTokens(const WorkloadRow& row, std::int64_t length, std::mt19937_64& random) {
  Tokens tokens;
  const std::int64_t half = length / 2;
  for (std::int64_t t = 0; t < row.tokens; ++t) {
    const auto drawn = half + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(half));
    tokens.positions.push_back(row.Prefill() ? t % length : drawn / row.ratio * row.ratio + row.ratio - 1);
    tokens.requests.push_back(static_cast<std::int32_t>(row.Prefill() ? t / length : t));
  }
  return tokens;
}

}  // namespace

std::unique_ptr<DeviceLaunch> MakeCompressLaunch(const WorkloadRow& row, const StatePool& pool, std::uint64_t seed) {
  constexpr std::int64_t kRope = 64;
  const spec::OperationRow& operation = spec::row(row.op);
  const std::int64_t head = operation.head_dim;
  const std::int64_t width = head * (row.Overlap() ? 2 : 1);
  const std::int64_t block = row.Overlap() ? 4 : 8;
  const std::int64_t requests = row.Requests();
  const std::int64_t length = row.Prefill() ? row.tokens / requests : kDecodeLength;
  std::mt19937_64 random(seed);

  const Tokens tokens = MakeTokens(row, length, random);
  const std::int64_t blocks = (length + block - 1) / block;
  const std::int64_t block_floats = block * 2 * width;
  const std::int64_t pool_blocks =
      std::min(requests * blocks, std::max<std::int64_t>(64, StatePool::kBytes / (block_floats * 4)));
  std::vector<std::int32_t> order(static_cast<std::size_t>(pool_blocks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int32_t> table;
  for (std::int64_t i = 0; i < requests * blocks; ++i) {
    table.push_back(order[static_cast<std::size_t>(i % pool_blocks)]);
  }
  std::vector<std::int64_t> slots(tokens.positions.size());
  std::iota(slots.begin(), slots.end(), 0);
  std::vector<std::int64_t> kv_slots;
  std::int64_t compressed = 0;
  for (const std::int64_t p : tokens.positions) kv_slots.push_back((p + 1) % row.ratio == 0 ? compressed++ : -1);

  auto launch = std::make_unique<DeviceLaunch>();
  kvexact_params& params = launch->params();
  params.operation = static_cast<std::int32_t>(row.op);
  params.head_dim = head;
  params.rope_head_dim = kRope;
  params.num_actual = row.tokens;
  params.compress_ratio = row.ratio;
  params.block_size = block;
  params.state_width = width;
  params.state_row_stride = 2 * width;
  params.overlap = row.Overlap() ? 1 : 0;
  params.rms_norm_eps = 1e-6F;

  const spec::Layout& layout = *operation.layout;
  const std::int64_t page_tokens = 256 / row.ratio;
  const std::int64_t pages = (compressed + page_tokens - 1) / page_tokens + 1;
  const std::int64_t page = (page_tokens * (layout.token_stride + layout.scale_stride) + 575) / 576 * 576;
  launch->layout() = AbiLayout(layout);
  launch->layout().page_tokens = page_tokens;
  launch->layout().page_stride = page;
  launch->layout().pages = pages;

  launch->AddBorrowed("state_cache", KVEXACT_F32, {pool_blocks, block_floats}, pool.data());
  launch->Add("token_to_req_indices", KVEXACT_I32, {row.tokens}, Upload(tokens.requests));
  launch->Add("positions", KVEXACT_I64, {row.tokens}, Upload(tokens.positions));
  launch->Add("slot_mapping", KVEXACT_I64, {row.tokens}, Upload(slots));
  launch->Add("kv_slot_mapping", KVEXACT_I64, {row.tokens}, Upload(kv_slots));
  launch->Add("block_table", KVEXACT_I32, {requests, blocks}, Upload(table));
  launch->Add("rms_norm_weight", KVEXACT_F32, {head}, Upload(Uniform(head, 0.5F, 1.5F, random)));
  const std::int64_t angles = length + row.ratio;
  launch->Add("cos_sin_cache", KVEXACT_F32, {angles, kRope}, Upload(Uniform(angles * kRope, -1, 1, random)));
  launch->Add("kv_cache", KVEXACT_U8, {pages, page}, Memory(pages * page), Access::kOutput);
  return launch;
}

}  // namespace kvexact::bench
