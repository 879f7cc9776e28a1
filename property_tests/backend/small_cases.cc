// SPDX-License-Identifier: Apache-2.0
#include "property_tests/backend/small_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "harness/backend/backend.h"

namespace kvexact {
namespace {

constexpr std::int64_t kBlock = 3;
constexpr std::int64_t kRowPad = 4;    // elements
constexpr std::int64_t kBlockPad = 8;  // elements
constexpr std::int64_t kPageTokens = 2;
constexpr std::int64_t kPagePad = 32;     // bytes
constexpr std::int64_t kBaseOffset = 16;  // bytes
constexpr std::int64_t kTablePad = 2;     // elements

// SplitMix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
  }
  float Uniform() { return static_cast<float>(Next() >> 40) * 0x1p-22F - 2.0F; }  // [-2, 2)

 private:
  std::uint64_t state_;
};

std::int64_t BlocksOf(std::int64_t tokens) { return (tokens + kBlock - 1) / kBlock; }

void SetCosines(Tensor& table, std::int64_t cosines) {
  for (std::int64_t row = 0; row < table.dim(0); ++row) {
    std::fill_n(table.as<float>() + row * table.dim(1), cosines, 1.0F);
  }
}

void AddState(Case& c, std::int64_t tokens) {
  Params& p = c.params;
  p.block_size = kBlock;
  p.state_width = p.head_dim * (p.overlap ? 2 : 1);
  p.state_row_stride = 2 * p.state_width + kRowPad;
  const std::int64_t blocks = BlocksOf(tokens);
  c.inputs["state_cache"] = Tensor(DType::kF32, {blocks, kBlock * p.state_row_stride + kBlockPad});
  c.inputs["token_to_req_indices"] = Tensor(DType::kI32, {tokens});
  c.inputs["block_table"] = Tensor(DType::kI32, {1, blocks + kTablePad});
  auto* table = Elements<std::int32_t>(c.inputs, "block_table");
  for (std::int64_t i = 0; i < blocks; ++i) table[i] = static_cast<std::int32_t>(blocks - 1 - i);
  std::fill_n(table + blocks, kTablePad, 1 << 30);
}

void AddCache(Case& c, std::int64_t tokens) {
  const spec::Layout& layout = *c.row().layout;
  Params& p = c.params;
  p.quant_block = layout.quant_block;
  p.token_stride = layout.token_stride;
  p.scale_dim = layout.scale_stride;
  p.kv_cache_block_size = kPageTokens;
  p.kv_cache_base_offset = kBaseOffset;
  const std::int64_t pages = (tokens + kPageTokens - 1) / kPageTokens;
  const std::int64_t page = kBaseOffset + kPageTokens * (p.token_stride + p.scale_dim) + kPagePad;
  c.outputs_before["kv_cache"] = Tensor(DType::kU8, {pages, page});
  c.inputs["kv_slot_mapping"] = Tensor(DType::kI64, {tokens});
  auto* slots = Elements<std::int64_t>(c.inputs, "kv_slot_mapping");
  for (std::int64_t t = 0; t < tokens; ++t) slots[t] = tokens - 1 - t;
  c.inputs["rms_norm_weight"] = Tensor(DType::kF32, {p.head_dim});
  std::fill_n(Elements<float>(c.inputs, "rms_norm_weight"), p.head_dim, 1.0F);
  c.inputs["cos_sin_cache"] = Tensor(DType::kF32, {tokens, p.rope_head_dim + 2});
  SetCosines(c.inputs["cos_sin_cache"], p.rope_head_dim / 2);
}

void FillWithUniform(Tensor& tensor, Random& random) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const float x = random.Uniform();
    if (tensor.dtype() == DType::kF32) tensor.as<float>()[i] = x;
    if (tensor.dtype() == DType::kBf16) {
      tensor.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
    }
  }
}

}  // namespace

Case CompressCase(spec::Operation op, std::int64_t tokens, std::int64_t ratio, bool overlap) {
  Case c;
  c.op = op;
  c.name = c.row().name;
  c.params.head_dim = c.row().head_dim;
  c.params.compress_ratio = ratio;
  c.params.overlap = overlap;
  c.params.num_actual = tokens;
  c.inputs["positions"] = Tensor(DType::kI64, {tokens});
  c.inputs["slot_mapping"] = Tensor(DType::kI64, {tokens});
  for (std::int64_t t = 0; t < tokens; ++t) Elements<std::int64_t>(c.inputs, "positions")[t] = t;
  if (c.row().reads_state) AddState(c, tokens);
  if (c.row().layout != nullptr) AddCache(c, tokens);
  if (op == spec::Operation::kFinalize) c.inputs["scratch"] = Tensor(DType::kF32, {tokens, c.params.head_dim + 1});
  if (op == spec::Operation::kGatherSplit) {
    c.outputs_before["scratch"] = Tensor(DType::kF32, {tokens, c.params.head_dim + 1});
  }
  return c;
}

Case IndexerQCase(spec::Operation op, std::int64_t tokens, std::int64_t heads, DType weights, DType weights_out) {
  Case c;
  c.op = op;
  c.name = c.row().name;
  c.params.head_dim = c.row().head_dim;
  c.params.num_actual = tokens;
  c.inputs["positions"] = Tensor(DType::kI64, {tokens});
  for (std::int64_t t = 0; t < tokens; ++t) Elements<std::int64_t>(c.inputs, "positions")[t] = t;
  c.inputs["index_q"] = Tensor(DType::kBf16, {tokens, heads, c.params.head_dim});
  c.inputs["cos_sin_cache"] = Tensor(DType::kF32, {tokens, c.params.rope_head_dim});
  SetCosines(c.inputs["cos_sin_cache"], c.params.rope_head_dim / 2);
  Tensor& w = c.inputs["index_weights"] = Tensor(weights, {tokens, heads});
  for (std::int64_t i = 0; i < w.elements(); ++i) {
    if (weights == DType::kF32) w.as<float>()[i] = 1.0F;
    if (weights == DType::kBf16) w.as<std::uint16_t>()[i] = 0x3F80;
  }
  c.outputs_before["weights_out"] = Tensor(weights_out, {tokens, heads});
  if (op == spec::Operation::kIndexerQFp8) {
    c.outputs_before["q_fp8"] = Tensor(DType::kU8, {tokens, heads, c.params.head_dim});
  } else {
    c.outputs_before["q_packed"] = Tensor(DType::kU8, {tokens, heads, c.params.head_dim / 2});
    c.outputs_before["q_scale"] = Tensor(DType::kU8, {tokens, heads, c.params.head_dim / 32});
  }
  return c;
}

float* StateRow(Case& c, std::int64_t position) {
  Tensor& state = c.inputs.at("state_cache");
  const std::int64_t block = Elements<std::int32_t>(c.inputs, "block_table")[position / kBlock];
  return state.as<float>() + block * state.dim(1) + position % kBlock * c.params.state_row_stride;
}

void FillRandom(Case& c, std::uint64_t seed) {
  Random random(seed);
  for (auto& [name, tensor] : c.inputs) FillWithUniform(tensor, random);
  if (c.row().reads_state) {
    for (std::int64_t p = 0; p < c.inputs.at("positions").elements(); ++p) {
      float* score = StateRow(c, p) + c.params.state_width;
      for (std::int64_t i = 0; i < c.params.state_width; ++i) score[i] *= 4.0F;
    }
  }
  for (auto& [name, tensor] : c.outputs_before) {
    for (std::uint8_t& byte : tensor.byte_span()) byte = static_cast<std::uint8_t>(random.Next() >> 56);
  }
}

TensorMap RunHost(const Case& c, int threads) {
  EXPECT_NO_THROW(Check(c));
  TensorMap outputs = c.outputs_before;
  const RunOutcome outcome = MakeHostBackend(threads)->Run(c, outputs);
  EXPECT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
  return outputs;
}

}  // namespace kvexact
