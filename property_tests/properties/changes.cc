// SPDX-License-Identifier: Apache-2.0
#include "property_tests/properties/changes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "harness/case/token_fate.h"

namespace kvexact::properties {
namespace {

using generate::Stream;

std::vector<std::int64_t> Range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(end - begin));
  std::iota(tokens.begin(), tokens.end(), begin);
  return tokens;
}

std::int64_t TokensOf(const Case& c) { return c.inputs.at("positions").dim(0); }

std::vector<std::int64_t> Permutation(std::int64_t n, Stream& random) {
  std::vector<std::int64_t> order = Range(0, n);
  random.Shuffle(order);
  return order;
}

// Tokens [begin, end) of those that are to be run.
PartialLaunch Slice(const Case& c, std::int64_t begin, std::int64_t end) {
  const std::int64_t decode = std::clamp<std::int64_t>(DecodeTokens(c) - begin, 0, end - begin);
  return LaunchOf(c, Range(begin, end), end - begin, decode);
}

float ScaledBy(float x, int k) { return std::ldexp(x, k); }
std::uint16_t ScaledBf16(std::uint16_t x, int k) {
  const int magnitude = x & 0x7FFF;
  return magnitude == 0 ? x : static_cast<std::uint16_t>(x + k * 0x80);
}

void ScaleTensor(Tensor& tensor, int k) {
  if (tensor.dtype() == DType::kF32) {
    for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.as<float>()[i] = ScaledBy(tensor.as<float>()[i], k);
    return;
  }
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    tensor.as<std::uint16_t>()[i] = ScaledBf16(tensor.as<std::uint16_t>()[i], k);
  }
}

}  // namespace

std::int64_t DecodeTokens(const Case& c) {
  if (c.op != spec::Operation::kTwoStage) return 0;
  return std::clamp<std::int64_t>(c.params.num_decode_tokens, 0, c.params.num_actual);
}

PartialLaunch PermutedTokens(const Case& c, Stream& random) {
  const std::int64_t decode = DecodeTokens(c);
  std::vector<std::int64_t> tokens = Range(0, decode);
  std::vector<std::int64_t> rest = Range(decode, c.params.num_actual);
  random.Shuffle(tokens);
  random.Shuffle(rest);
  tokens.insert(tokens.end(), rest.begin(), rest.end());
  for (std::int64_t t = c.params.num_actual; t < TokensOf(c); ++t) tokens.push_back(t);
  return LaunchOf(c, std::move(tokens), c.params.num_actual, decode);
}

std::vector<PartialLaunch> SplitAt(const Case& c, std::int64_t at) {
  return {Slice(c, 0, at), Slice(c, at, c.params.num_actual)};
}

std::vector<PartialLaunch> TokenByToken(const Case& c) {
  std::vector<PartialLaunch> launches;
  for (std::int64_t t = 0; t < c.params.num_actual; ++t) launches.push_back(Slice(c, t, t + 1));
  return launches;
}

PartialLaunch WithSkippedTokens(const Case& c, Stream& random) {
  std::vector<std::int64_t> tokens;
  std::vector<std::size_t> skipped;
  std::int64_t decode = DecodeTokens(c);
  const std::int64_t decode_given = decode;
  for (std::int64_t t = 0; t < TokensOf(c); ++t) {
    for (std::int64_t more = random.Below(3); t < c.params.num_actual && more > 0; --more) {
      skipped.push_back(tokens.size());
      tokens.push_back(t);
      decode += t < decode_given ? 1 : 0;
    }
    tokens.push_back(t);
  }
  const auto live = c.params.num_actual + static_cast<std::int64_t>(skipped.size());
  PartialLaunch launch = LaunchOf(c, std::move(tokens), live, decode);
  for (const std::size_t i : skipped) {
    launch.part.inputs.at("slot_mapping").as<std::int64_t>()[i] = random.Pick<std::int64_t>({-1, -5});
    if (random.OneIn(2)) continue;
    launch.part.inputs.at("positions").as<std::int64_t>()[i] = std::numeric_limits<std::int64_t>::min();
    const auto requests = launch.part.inputs.find("token_to_req_indices");
    if (requests != launch.part.inputs.end()) requests->second.as<std::int32_t>()[i] = 1 << 30;
  }
  return launch;
}

Case RenamedBlocks(const Case& c, Stream& random) {
  Case renamed = c;
  const Tensor& state = c.inputs.at("state_cache");
  const std::int64_t blocks = state.dim(0);
  const std::vector<std::int64_t> name = Permutation(blocks, random);
  const auto bytes = blocks == 0 ? 0 : static_cast<std::size_t>(state.size_bytes() / blocks);
  for (std::int64_t b = 0; b < blocks; ++b) {
    std::memcpy(
        renamed.inputs.at("state_cache").bytes() + static_cast<std::size_t>(name[static_cast<std::size_t>(b)]) * bytes,
        state.bytes() + static_cast<std::size_t>(b) * bytes, bytes);
  }
  Tensor& table = renamed.inputs.at("block_table");
  for (std::int64_t i = 0; i < table.elements(); ++i) {
    std::int32_t& entry = table.as<std::int32_t>()[i];
    if (entry >= 0 && entry < blocks) entry = static_cast<std::int32_t>(name[static_cast<std::size_t>(entry)]);
  }
  return renamed;
}

MovedSlots MoveSlots(const Case& c, Stream& random) {
  const spec::PagedCache cache = CacheOf(c);
  MovedSlots moved{c, Permutation(cache.pages * cache.page_tokens, random)};
  Tensor& slots = moved.c.inputs.at("kv_slot_mapping");
  for (std::int64_t i = 0; i < slots.elements(); ++i) {
    std::int64_t& slot = slots.as<std::int64_t>()[i];
    const bool known = slot >= 0 && slot < static_cast<std::int64_t>(moved.slot_of.size());
    if (known) slot = moved.slot_of[static_cast<std::size_t>(slot)];
  }
  return moved;
}

TensorMap MovedBack(const Case& c, const MovedSlots& moved, const TensorMap& after) {
  const spec::PagedCache cache = CacheOf(c);
  const spec::Layout& layout = cache.layout;
  TensorMap back = c.outputs_before;
  const std::uint8_t* from = after.at("kv_cache").bytes();
  std::uint8_t* to = back.at("kv_cache").bytes();
  const std::vector<TokenFate> fates = TokenFates(c);
  for (std::size_t i = 0; i < fates.size(); ++i) {
    if (fates[i] != TokenFate::kLive) continue;
    const std::int64_t slot = c.inputs.at("kv_slot_mapping").as<std::int64_t>()[i];
    const std::int64_t other = moved.slot_of[static_cast<std::size_t>(slot)];
    const auto copy = [&](std::int64_t target, std::int64_t source, int bytes) {
      std::memcpy(to + target, from + source, static_cast<std::size_t>(bytes));
    };
    copy(cache.codes(slot), cache.codes(other), layout.code_bytes());
    copy(cache.rope(slot), cache.rope(other), 2 * layout.rope_values);
    copy(cache.scales(slot), cache.scales(other), layout.scales() * layout.scale_bytes() + layout.pad_scales);
  }
  return back;
}

Case ShiftedScores(const Case& c, Stream& random) {
  Case shifted = c;
  Tensor& state = shifted.inputs.at("state_cache");
  const std::int64_t width = c.params.state_width;
  std::vector<float> shift(static_cast<std::size_t>(c.params.head_dim));
  for (float& s : shift) s = static_cast<float>(random.Between(-1000, 1000));
  for (std::int64_t block = 0; block < state.dim(0); ++block) {
    for (std::int64_t row = 0; row < c.params.block_size; ++row) {
      float* scores = state.as<float>() + block * state.dim(1) + row * c.params.state_row_stride + width;
      const std::int64_t columns = c.params.head_dim * (c.params.overlap ? 2 : 1);
      for (std::int64_t i = 0; i < columns; ++i) scores[i] += shift[static_cast<std::size_t>(i % c.params.head_dim)];
    }
  }
  return shifted;
}

Case Scaled(const Case& c, int k) {
  Case scaled = c;
  if (c.row().family == spec::Family::kIndexerQ) {
    ScaleTensor(scaled.inputs.at("index_q"), k);
    if (c.op == spec::Operation::kIndexerQFp8) ScaleTensor(scaled.inputs.at("index_weights"), -k);
    return scaled;
  }
  scaled.params.rms_norm_eps = std::ldexp(c.params.rms_norm_eps, 2 * k);
  if (!c.row().reads_state) {
    ScaleTensor(scaled.inputs.at("scratch"), k);
    return scaled;
  }
  Tensor& state = scaled.inputs.at("state_cache");
  for (std::int64_t block = 0; block < state.dim(0); ++block) {
    for (std::int64_t row = 0; row < c.params.block_size; ++row) {
      float* kv = state.as<float>() + block * state.dim(1) + row * c.params.state_row_stride;
      for (std::int64_t i = 0; i < c.params.state_width; ++i) kv[i] = ScaledBy(kv[i], k);
    }
  }
  return scaled;
}

TensorMap ScaledBack(const Case& c, int k, TensorMap after) {
  if (c.op == spec::Operation::kGatherSplit) {
    const std::vector<TokenFate> fates = TokenFates(c);
    Tensor& scratch = after.at("scratch");
    for (std::int64_t t = 0; t < scratch.dim(0); ++t) {
      const TokenFate fate = fates[static_cast<std::size_t>(t)];
      if (fate != TokenFate::kLive && fate != TokenFate::kNegativeKvSlot) continue;
      float* row = scratch.as<float>() + t * scratch.dim(1);
      for (std::int64_t i = 0; i < c.params.head_dim; ++i) row[i] = ScaledBy(row[i], -k);
    }
  }
  if (c.op == spec::Operation::kIndexerQMxfp4) {
    Tensor& scales = after.at("q_scale");
    const auto written =
        static_cast<std::int64_t>(c.params.num_actual * (scales.dim(0) == 0 ? 0 : scales.elements() / scales.dim(0)));
    for (std::int64_t i = 0; i < written; ++i) scales.bytes()[i] = static_cast<std::uint8_t>(scales.bytes()[i] - k);
  }
  return after;
}

}  // namespace kvexact::properties
