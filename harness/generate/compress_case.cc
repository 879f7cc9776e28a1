// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "harness/generate/build_case.h"
#include "harness/generate/counter_hash.h"
#include "harness/generate/fill.h"
#include "harness/generate/shape.h"
#include "harness/generate/special_value.h"
#include "harness/generate/state_cache.h"
#include "harness/generate/streams.h"
#include "harness/generate/tokens.h"
#include "harness/generate/values.h"

namespace kvexact::generate {
namespace {

using spec::Operation;

void SetParams(const CaseSpec& spec, const Shape& shape, const TokenPlan& plan, Case& c) {
  const Configuration& config = spec.config;
  Params& p = c.params;
  p.head_dim = shape.head_dim;
  p.compress_ratio = config.ratio;
  p.num_actual = plan.num_actual;
  if (c.row().reads_state) {
    p.overlap = config.overlap;
    p.block_size = config.block;
    p.state_width = shape.state_width;
    p.state_row_stride = shape.state_row_stride;
  }
  if (c.row().layout != nullptr) {
    p.rope_head_dim = config.rope;
    p.quant_block = shape.layout.quant_block;
    p.token_stride = shape.layout.token_stride;
    p.scale_dim = shape.layout.scale_stride;
    p.kv_cache_block_size = config.page;
    p.kv_cache_base_offset = config.base;
    p.layout = config.layout;
    p.rms_norm_eps = spec.eps;
  }
  if (config.op == Operation::kTwoStage) p.num_decode_tokens = spec.decode;
  if (config.op == Operation::kGatherSplit) p.num_splits = config.splits;
}

template <class T, class Get>
Tensor TokenArray(DType dtype, const TokenPlan& plan, Get&& get) {
  Tensor array(dtype, {static_cast<std::int64_t>(plan.tokens.size())});
  std::ranges::transform(plan.tokens, array.as<T>(), [&](const Token& token) { return static_cast<T>(get(token)); });
  return array;
}

void AddTokenArrays(const TokenPlan& plan, Case& c) {
  c.inputs["positions"] = TokenArray<std::int64_t>(DType::kI64, plan, [](const Token& t) { return t.position; });
  c.inputs["slot_mapping"] = TokenArray<std::int64_t>(DType::kI64, plan, [](const Token& t) { return t.slot; });
  if (c.row().reads_state) {
    c.inputs["token_to_req_indices"] =
        TokenArray<std::int32_t>(DType::kI32, plan, [](const Token& t) { return t.request; });
  }
  if (c.row().layout != nullptr) {
    c.inputs["kv_slot_mapping"] = TokenArray<std::int64_t>(DType::kI64, plan, [](const Token& t) { return t.kv_slot; });
  }
}

// One row of random values a live token; the others are unread.
Tensor Scratch(const CaseSpec& spec, const Shape& shape, const TokenPlan& plan) {
  Tensor scratch(DType::kF32, {static_cast<std::int64_t>(plan.tokens.size()), shape.scratch_columns});
  FillUnread(spec.unread, StreamKey(spec.seed, {kUnreadStream, kScratchStream}), scratch);
  std::vector<float*> live;
  for (std::size_t i = 0; i < plan.tokens.size(); ++i) {
    const Token& token = plan.tokens[i];
    if (token.fate != TokenFate::kLive) continue;
    float* row = scratch.as<float>() + static_cast<std::int64_t>(i) * shape.scratch_columns;
    const std::uint64_t key = StreamKey(spec.seed, {kScratchStream, static_cast<std::uint64_t>(token.request),
                                                    static_cast<std::uint64_t>(token.position)});
    FillValues(spec.values, {key, token.position}, shape.layout.quant_block,
               {row, static_cast<std::size_t>(shape.head_dim)});
    live.push_back(row);
  }
  if (!live.empty() && NonFinite(spec)) {
    Stream stream(StreamKey(spec.seed, {kSpecialStream}));
    float* row = live[static_cast<std::size_t>(stream.Below(static_cast<std::int64_t>(live.size())))];
    row[stream.Below(shape.head_dim)] = SpecialValue(spec.special);
  }
  return scratch;
}

Tensor NormWeight(const CaseSpec& spec, const Shape& shape) {
  std::vector<float> weight(static_cast<std::size_t>(shape.head_dim));
  FillValues(spec.weights, {StreamKey(spec.seed, {kWeightStream}), 0}, shape.layout.quant_block, weight);
  Tensor tensor(spec.config.norm_type == FloatType::kF32 ? DType::kF32 : DType::kBf16, {shape.head_dim});
  Store(weight, tensor, 0);
  return tensor;
}

// Rows up to the last true position, so that a rotation at the wrong position reads an unread row.
Tensor Angles(const CaseSpec& spec, const Shape& shape, const TokenPlan& plan) {
  Tensor angles(DType::kF32, {plan.end + spec.spare_angles, shape.angle_columns});
  FillUnread(spec.unread, StreamKey(spec.seed, {kUnreadStream, kAngleStream}), angles);
  for (const Token& token : plan.tokens) {
    if (token.fate != TokenFate::kLive) continue;
    const std::int64_t row = token.position / spec.config.ratio * spec.config.ratio;
    FillAngles(spec.angles, StreamKey(spec.seed, {kAngleStream, static_cast<std::uint64_t>(row)}), spec.config.rope,
               {angles.as<float>() + row * shape.angle_columns, static_cast<std::size_t>(spec.config.rope)});
  }
  return angles;
}

}  // namespace

void BuildCompressCase(const CaseSpec& spec, Case& c) {
  const Shape shape = ShapeOf(spec.config);
  const TokenPlan plan = PlanTokens(spec);
  SetParams(spec, shape, plan, c);
  AddTokenArrays(plan, c);
  if (c.row().reads_state) {
    const StateCache state(spec, shape, plan);
    c.inputs["block_table"] = state.BlockTable();
    c.inputs["state_cache"] = state.State();
  }
  if (spec.config.op == Operation::kFinalize) c.inputs["scratch"] = Scratch(spec, shape, plan);
  if (c.row().layout != nullptr) {
    c.inputs["rms_norm_weight"] = NormWeight(spec, shape);
    c.inputs["cos_sin_cache"] = Angles(spec, shape, plan);
    c.outputs_before["kv_cache"] = Tensor(DType::kU8, {plan.pages, shape.page_stride});
  } else {
    c.outputs_before["scratch"] =
        Tensor(DType::kF32, {static_cast<std::int64_t>(plan.tokens.size()), shape.scratch_columns});
  }
  for (auto& [name, tensor] : c.outputs_before) FillBytes(StreamKey(spec.seed, {kOutputStream}), tensor);
}

}  // namespace kvexact::generate
