// SPDX-License-Identifier: Apache-2.0
#include "gpu/bench/compress_workload.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace kvexact::gpu::bench {
namespace {

std::vector<float> Uniform(std::int64_t count, float low, float high, std::mt19937_64& random) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& x : values) x = low + (high - low) * static_cast<float>(random() >> 40) * 0x1p-24F;
  return values;
}

}  // namespace

CompressWorkload MakeWorkload(const CompressShape& shape, const Memory& pool) {
  const spec::OperationRow& row = spec::row(shape.op);
  const spec::Layout& layout = *row.layout;
  const std::int64_t head = row.head_dim;
  const bool overlap = shape.ratio == 4;
  const std::int64_t width = head * (overlap ? 2 : 1);
  const std::int64_t block = overlap ? 4 : 8;
  const std::int64_t requests = shape.prefill ? std::max<std::int64_t>(1, shape.tokens / 8192) : shape.tokens;
  const std::int64_t length = shape.prefill ? shape.tokens / requests : 4096;
  std::mt19937_64 random(1);

  std::vector<std::int64_t> positions;
  std::vector<std::int32_t> request;
  for (std::int64_t t = 0; t < shape.tokens; ++t) {
    const auto drawn = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length / 2));
    positions.push_back(shape.prefill ? t % length
                                      : (length / 2 + drawn) / shape.ratio * shape.ratio + shape.ratio - 1);
    request.push_back(static_cast<std::int32_t>(shape.prefill ? t / length : t));
  }
  const std::int64_t blocks = (length + block - 1) / block;
  const std::int64_t block_floats = block * 2 * width;
  const std::int64_t pool_blocks =
      std::min(requests * blocks, std::max<std::int64_t>(64, kPoolBytes / (block_floats * 4)));
  std::vector<std::int32_t> order(static_cast<std::size_t>(pool_blocks));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int32_t> table;
  for (std::int64_t i = 0; i < requests * blocks; ++i)
    table.push_back(order[static_cast<std::size_t>(i % pool_blocks)]);

  CompressWorkload w;
  std::vector<std::int64_t> kv_slots;
  for (const std::int64_t p : positions) kv_slots.push_back((p + 1) % shape.ratio == 0 ? w.compressed++ : -1);
  std::vector<std::int64_t> slots(positions.size());
  std::iota(slots.begin(), slots.end(), 0);

  const std::int64_t page_tokens = 256 / shape.ratio;
  const std::int64_t pages = (w.compressed + page_tokens - 1) / page_tokens + 1;
  const std::int64_t page = (page_tokens * (layout.token_stride + layout.scale_stride) + 575) / 576 * 576;

  CompressDescription& d = w.description;
  d.op = shape.op;
  d.head_dim = head;
  d.rope_head_dim = 64;
  d.ratio = shape.ratio;
  d.overlap = overlap;
  d.rms_norm_eps = 1e-6F;
  d.num_actual = shape.tokens;
  d.state_cache = pool.as<float>();
  d.block_size = block;
  d.state_width = width;
  d.state_row_stride = 2 * width;
  d.state_block_stride = block_floats;
  const auto keep = [&](Memory memory) {
    w.memory.push_back(std::move(memory));
    return w.memory.back().as<void>();
  };
  d.token_to_req = static_cast<std::int32_t*>(keep(Upload(request)));
  d.positions = static_cast<std::int64_t*>(keep(Upload(positions)));
  d.slots = static_cast<std::int64_t*>(keep(Upload(slots)));
  d.kv_slots = static_cast<std::int64_t*>(keep(Upload(kv_slots)));
  d.block_table = static_cast<std::int32_t*>(keep(Upload(table)));
  d.block_table_stride = blocks;
  d.norm_weight = keep(Upload(Uniform(head, 0.5F, 1.5F, random)));
  d.cos_sin = static_cast<float*>(keep(Upload(Uniform((length + shape.ratio) * 64, -1, 1, random))));
  d.cos_sin_stride = 64;
  d.cache = static_cast<std::uint8_t*>(keep(Memory(pages * page)));
  d.cache_placement = {layout, page_tokens, page, 0, pages};
  const std::int64_t window_bytes = (overlap ? 2 : 1) * shape.ratio * 2 * head * 4;
  w.bytes = w.compressed * (window_bytes + layout.token_stride + layout.scale_stride) + shape.tokens * 20;
  return w;
}

}  // namespace kvexact::gpu::bench
