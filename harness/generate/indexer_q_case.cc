// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "harness/generate/build_case.h"
#include "harness/generate/counter_hash.h"
#include "harness/generate/fill.h"
#include "harness/generate/shape.h"
#include "harness/generate/special_value.h"
#include "harness/generate/streams.h"
#include "harness/generate/tokens.h"
#include "harness/generate/values.h"

namespace kvexact::generate {
namespace {

DType TypeOf(FloatType type) { return type == FloatType::kF32 ? DType::kF32 : DType::kBf16; }

std::uint64_t TokenKey(const CaseSpec& spec, StreamName name, const Token& token) {
  return StreamKey(spec.seed,
                   {name, static_cast<std::uint64_t>(token.request), static_cast<std::uint64_t>(token.position)});
}

Tensor Q(const CaseSpec& spec, const Shape& shape, const TokenPlan& plan) {
  const std::int64_t heads = spec.config.heads;
  Tensor q(DType::kBf16, {static_cast<std::int64_t>(plan.tokens.size()), heads, shape.head_dim});
  FillUnread(spec.unread, StreamKey(spec.seed, {kUnreadStream, kQStream}), q);
  const std::int64_t group = spec.config.op == spec::Operation::kIndexerQMxfp4 ? 32 : shape.head_dim;
  std::vector<float> row(static_cast<std::size_t>(shape.head_dim));
  for (std::int64_t token = 0; token < plan.num_actual; ++token) {
    const std::uint64_t key = TokenKey(spec, kQStream, plan.tokens[static_cast<std::size_t>(token)]);
    for (std::int64_t head = 0; head < heads; ++head) {
      FillValues(spec.values, {StreamKey(key, {static_cast<std::uint64_t>(head)}), head}, group, row);
      Store(row, q, (token * heads + head) * shape.head_dim);
    }
  }
  const std::int64_t values = plan.num_actual * heads * shape.head_dim;
  if (values > 0 && NonFinite(spec)) {
    const float value = SpecialValue(spec.special);
    Store(
        {&value, 1}, q,
        static_cast<std::int64_t>(At(StreamKey(spec.seed, {kSpecialStream}), 0) % static_cast<std::uint64_t>(values)));
  }
  return q;
}

Tensor Weights(const CaseSpec& spec, const TokenPlan& plan) {
  const std::int64_t heads = spec.config.heads;
  Tensor weights(TypeOf(spec.config.weight_type), {static_cast<std::int64_t>(plan.tokens.size()), heads});
  FillUnread(spec.unread, StreamKey(spec.seed, {kUnreadStream, kWeightStream}), weights);
  std::vector<float> row(static_cast<std::size_t>(heads));
  for (std::int64_t token = 0; token < plan.num_actual; ++token) {
    const std::uint64_t key = TokenKey(spec, kWeightStream, plan.tokens[static_cast<std::size_t>(token)]);
    FillValues(spec.weights, {key, token}, std::max<std::int64_t>(heads, 1), row);
    Store(row, weights, token * heads);
  }
  return weights;
}

Tensor Angles(const CaseSpec& spec, const Shape& shape, const TokenPlan& plan) {
  Tensor angles(TypeOf(spec.config.angle_type), {plan.end + spec.spare_angles, shape.angle_columns});
  FillUnread(spec.unread, StreamKey(spec.seed, {kUnreadStream, kAngleStream}), angles);
  std::vector<float> row(static_cast<std::size_t>(spec.config.rope));
  for (std::int64_t token = 0; token < plan.num_actual; ++token) {
    const std::int64_t position = plan.tokens[static_cast<std::size_t>(token)].position;
    FillAngles(spec.angles, StreamKey(spec.seed, {kAngleStream, static_cast<std::uint64_t>(position)}),
               spec.config.rope, row);
    Store(row, angles, position * shape.angle_columns);
  }
  return angles;
}

}  // namespace

void BuildIndexerQCase(const CaseSpec& spec, Case& c) {
  const Configuration& config = spec.config;
  const Shape shape = ShapeOf(config);
  const TokenPlan plan = PlanQTokens(spec);
  const auto tokens = static_cast<std::int64_t>(plan.tokens.size());
  c.params.head_dim = shape.head_dim;
  c.params.rope_head_dim = config.rope;
  c.params.num_actual = plan.num_actual;
  c.params.softmax_scale = spec.softmax_scale;
  c.params.head_scale = spec.head_scale;
  c.params.q_fnuz = config.fnuz;
  Tensor positions(DType::kI64, {tokens});
  std::ranges::transform(plan.tokens, positions.as<std::int64_t>(), &Token::position);
  c.inputs["positions"] = std::move(positions);
  c.inputs["index_q"] = Q(spec, shape, plan);
  c.inputs["index_weights"] = Weights(spec, plan);
  c.inputs["cos_sin_cache"] = Angles(spec, shape, plan);
  if (config.op == spec::Operation::kIndexerQFp8) {
    c.outputs_before["q_fp8"] = Tensor(DType::kU8, {tokens, config.heads, shape.head_dim});
  } else {
    c.outputs_before["q_packed"] = Tensor(DType::kU8, {tokens, config.heads, shape.head_dim / 2});
    c.outputs_before["q_scale"] = Tensor(DType::kU8, {tokens, config.heads, shape.head_dim / 32});
  }
  c.outputs_before["weights_out"] = Tensor(TypeOf(config.out_type), {tokens, config.heads});
  std::uint64_t buffer = 0;
  for (auto& [name, tensor] : c.outputs_before) FillBytes(StreamKey(spec.seed, {kOutputStream, buffer++}), tensor);
}

}  // namespace kvexact::generate
