// SPDX-License-Identifier: Apache-2.0
#include "property_tests/case/read_live_entries.h"

#include <algorithm>

#include "harness/case/token_fate.h"

namespace kvexact::test {
namespace {

class Hash {
 public:
  template <class T>
  void Read(const T* values, std::int64_t count) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values);
    for (std::int64_t i = 0; i < count * static_cast<std::int64_t>(sizeof(T)); ++i) {
      value_ = (value_ ^ bytes[i]) * 1099511628211U;
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

void ReadWindow(const CompressInputs& in, std::int64_t token, Hash& hash) {
  const std::int64_t position = in.positions[token];
  for (std::int64_t row = 0; row < in.window_rows(); ++row) {
    const std::int64_t at = position - in.window_rows() + 1 + row;
    if (at < 0) continue;
    const std::int64_t block = in.block_table(in.token_to_req[token], at / in.block_size);
    const float* values = in.state_cache.data() + block * in.state_cache.outerStride() +
                          at % in.block_size * in.state_row_stride + (row < in.ratio ? 0 : in.head_dim);
    hash.Read(values, in.head_dim);
    hash.Read(values + in.state_width, in.head_dim);
  }
}

void ReadStored(const CompressInputs& in, const CompressOutputs& out, std::int64_t token, Hash& hash) {
  const std::int64_t row = in.positions[token] / in.ratio * in.ratio;
  hash.Read(in.cos_sin.data() + row * in.cos_sin.outerStride(), in.rope_head_dim);
  const std::int64_t slot = in.kv_slot_mapping[token];
  const spec::Layout& layout = out.cache.layout;
  hash.Read(out.cache_bytes + out.cache.codes(slot), layout.code_bytes());
  hash.Read(out.cache_bytes + out.cache.rope(slot), 2 * layout.rope_values);
  hash.Read(out.cache_bytes + out.cache.scales(slot), layout.scales() * layout.scale_bytes() + layout.pad_scales);
}

std::uint64_t ReadCompress(const Case& c) {
  const CompressBinding binding(c);
  const CompressInputs& in = binding.inputs();
  TensorMap outputs = c.outputs_before;
  const CompressOutputs out = BindCompressOutputs(c, outputs);
  const std::vector<TokenFate> fates = TokenFates(c);
  Hash hash;
  if (c.row().layout != nullptr) hash.Read(in.norm_weight.data(), in.head_dim);
  for (std::int64_t token = 0; token < in.num_actual; ++token) {
    const TokenFate fate = fates[static_cast<std::size_t>(token)];
    const bool split =
        c.op == spec::Operation::kTwoStage && token >= std::clamp<std::int64_t>(in.num_decode_tokens, 0, in.num_actual);
    const bool live = fate == TokenFate::kLive;
    if (!live && !(split && fate == TokenFate::kNegativeKvSlot)) continue;
    if (c.row().reads_state) ReadWindow(in, token, hash);
    if (live && c.op == spec::Operation::kFinalize) {
      hash.Read(in.scratch.data() + token * in.scratch.outerStride(), in.head_dim);
    }
    if (live && c.row().layout != nullptr) ReadStored(in, out, token, hash);
    if (live && c.op == spec::Operation::kGatherSplit) {
      hash.Read(out.scratch + token * out.scratch_stride, in.head_dim);
    }
  }
  return hash.value();
}

std::uint64_t ReadIndexerQ(const Case& c) {
  const IndexerQBinding binding(c);
  const IndexerQInputs& in = binding.inputs();
  TensorMap outputs = c.outputs_before;
  const IndexerQOutputs out = BindIndexerQOutputs(c, outputs);
  const std::int64_t code_bytes = in.codes == QCodes::kE2M1 ? in.head_dim / 2 : in.head_dim;
  Hash hash;
  for (std::int64_t token = 0; token < in.num_actual; ++token) {
    hash.Read(in.cos_sin.data() + in.positions[token] * in.cos_sin.outerStride(), in.rope_head_dim);
    for (std::int64_t row = token * in.heads; row < (token + 1) * in.heads; ++row) {
      hash.Read(in.q.data() + row * in.head_dim, in.head_dim);
      hash.Read(in.weights.data() + row, 1);
      hash.Read(out.codes + row * code_bytes, code_bytes);
      if (out.scales != nullptr) hash.Read(out.scales + row * (in.head_dim / 32), in.head_dim / 32);
      const std::int64_t weight_bytes = in.weights_out_bf16 ? 2 : 4;
      hash.Read(static_cast<const std::uint8_t*>(out.weights) + row * weight_bytes, weight_bytes);
    }
  }
  return hash.value();
}

}  // namespace

std::uint64_t ReadLiveEntries(const Case& c) {
  return c.row().family == spec::Family::kCompress ? ReadCompress(c) : ReadIndexerQ(c);
}

}  // namespace kvexact::test
