// SPDX-License-Identifier: Apache-2.0
#include "harness/run/reorder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "harness/generate/counter_hash.h"

namespace kvexact {
namespace {

constexpr std::uint64_t kReorderStream = 3;

// Tensors with one row a token; the others belong to all tokens together.
bool HasTokenRows(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "positions", "token_to_req_indices", "slot_mapping", "kv_slot_mapping", "scratch", "index_q", "q_fp8", "q_packed",
      "q_scale",   "weights_out",          "index_weights"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::size_t RowBytes(const Tensor& tensor) {
  return tensor.dim(0) == 0 ? 0 : static_cast<std::size_t>(tensor.size_bytes() / tensor.dim(0));
}

Tensor RowsOf(const Tensor& tensor, const std::vector<std::int64_t>& rows) {
  std::vector<std::int64_t> shape = tensor.shape();
  shape[0] = static_cast<std::int64_t>(rows.size());
  Tensor out = Tensor::Unfilled(tensor.dtype(), std::move(shape));
  const std::size_t bytes = RowBytes(tensor);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::memcpy(out.bytes() + i * bytes, tensor.bytes() + static_cast<std::size_t>(rows[i]) * bytes, bytes);
  }
  return out;
}

TensorMap TokenRowsOf(const TensorMap& tensors, const std::vector<std::int64_t>& tokens) {
  TensorMap out;
  for (const auto& [name, tensor] : tensors) {
    out.emplace(name, HasTokenRows(name) ? RowsOf(tensor, tokens) : tensor.Alias());
  }
  return out;
}

std::vector<std::int64_t> Shuffled(std::int64_t begin, std::int64_t end, generate::Stream& random) {
  std::vector<std::int64_t> tokens;
  for (std::int64_t t = begin; t < end; ++t) tokens.push_back(t);
  random.Shuffle(tokens);
  return tokens;
}

}  // namespace

PartialLaunch LaunchOf(const Case& c, std::vector<std::int64_t> tokens, std::int64_t live, std::int64_t decode) {
  PartialLaunch launch{std::move(tokens), {}};
  launch.part.name = c.name;
  launch.part.op = c.op;
  launch.part.params = c.params;
  launch.part.params.num_actual = live;
  if (c.op == spec::Operation::kTwoStage) launch.part.params.num_decode_tokens = decode;
  launch.part.inputs = TokenRowsOf(c.inputs, launch.tokens);
  launch.part.outputs_before = TokenRowsOf(c.outputs_before, launch.tokens);
  return launch;
}

std::vector<PartialLaunch> Reordered(const Case& c, std::uint64_t seed) {
  const std::int64_t live = c.params.num_actual;
  if (live < 2) return {};
  const std::int64_t decode =
      c.op == spec::Operation::kTwoStage ? std::clamp<std::int64_t>(c.params.num_decode_tokens, 0, live) : 0;
  generate::Stream random(generate::StreamKey(seed, {kReorderStream}));
  const std::vector<std::int64_t> first = Shuffled(0, decode, random);
  const std::vector<std::int64_t> second = Shuffled(decode, live, random);
  // Half of each, so that both launches have tokens.
  const std::int64_t decode_cut = (decode + 1) / 2;
  const std::int64_t prefill_cut = (live - decode) / 2;
  std::vector<std::int64_t> front(first.begin(), first.begin() + decode_cut);
  front.insert(front.end(), second.begin(), second.begin() + prefill_cut);
  std::vector<std::int64_t> back(first.begin() + decode_cut, first.end());
  back.insert(back.end(), second.begin() + prefill_cut, second.end());
  const auto live_in_back = static_cast<std::int64_t>(back.size());
  for (std::int64_t t = live; t < c.inputs.at("positions").dim(0); ++t) back.push_back(t);

  const auto live_in_front = static_cast<std::int64_t>(front.size());
  std::vector<PartialLaunch> launches;
  launches.push_back(LaunchOf(c, std::move(front), live_in_front, decode_cut));
  launches.push_back(LaunchOf(c, std::move(back), live_in_back, decode - decode_cut));
  return launches;
}

TensorMap TakeOutputs(const PartialLaunch& launch, TensorMap& whole) {
  TensorMap part;
  for (auto& [name, tensor] : whole) {
    part.emplace(name, HasTokenRows(name) ? RowsOf(tensor, launch.tokens) : std::move(tensor));
  }
  return part;
}

void PutBack(const PartialLaunch& launch, TensorMap&& part, TensorMap& whole) {
  for (auto& [name, tensor] : part) {
    Tensor& target = whole.find(name)->second;
    if (!HasTokenRows(name)) {
      target = std::move(tensor);
      continue;
    }
    const std::size_t bytes = RowBytes(target);
    for (std::size_t i = 0; i < launch.tokens.size(); ++i) {
      std::memcpy(target.bytes() + static_cast<std::size_t>(launch.tokens[i]) * bytes, tensor.bytes() + i * bytes,
                  bytes);
    }
  }
}

}  // namespace kvexact
