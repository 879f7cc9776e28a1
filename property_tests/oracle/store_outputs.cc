// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/store_outputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace kvexact::oracle {
namespace {

void WritePacked(std::uint8_t* at, const std::vector<StoredBlock>& blocks) {
  for (const StoredBlock& block : blocks) {
    for (std::size_t i = 0; i < block.codes.size(); i += 2) {
      *at++ = static_cast<std::uint8_t>(block.codes[i] | block.codes[i + 1] << 4);
    }
  }
}

const spec::Layout& LayoutOf(const Case& c) {
  for (const spec::Layout* layout : spec::kLayouts) {
    if (c.params.layout == layout->name) return *layout;
  }
  return *c.row().layout;
}

}  // namespace

void WriteToken(const Case& c, const CompressToken& token, const StoredToken& stored, TensorMap& outputs) {
  const Params& p = c.params;
  const spec::Layout& layout = LayoutOf(c);
  Tensor& cache = outputs.at("kv_cache");
  const std::int64_t in_page = token.kv_slot % p.kv_cache_block_size;
  std::uint8_t* page = cache.bytes() + p.kv_cache_base_offset + token.kv_slot / p.kv_cache_block_size * cache.dim(1);
  std::uint8_t* body = page + in_page * p.token_stride;
  std::uint8_t* scales =
      layout.scales_behind_page ? page + p.kv_cache_block_size * p.token_stride + in_page * p.scale_dim : body;
  scales += layout.scales_offset;
  if (token.op == spec::Operation::kIndexerMxfp4) {
    WritePacked(body + layout.codes_offset, stored.blocks);
  } else {
    std::uint8_t* codes = body + layout.codes_offset;
    for (const StoredBlock& block : stored.blocks) codes = std::copy(block.codes.begin(), block.codes.end(), codes);
  }
  if (token.op == spec::Operation::kIndexerFp8) {
    const float scale = PowerOfTwo(stored.blocks[0].exponent);
    std::memcpy(scales, &scale, sizeof scale);
    return;
  }
  for (const StoredBlock& block : stored.blocks) *scales++ = Ue8m0Of(block.exponent);
  std::fill_n(scales, layout.pad_scales, std::uint8_t{0});
  std::memcpy(body + layout.rope_offset, stored.rope.data(), stored.rope.size() * sizeof stored.rope[0]);
}

void WriteScratch(std::int64_t token, const std::vector<float>& columns, TensorMap& outputs) {
  Tensor& scratch = outputs.at("scratch");
  float* row = scratch.as<float>() + token * scratch.dim(1);
  for (const float x : columns) {
    // The canonical NaN.
    *row++ = std::isnan(x) ? std::bit_cast<float>(0x7FFFFFFFU) : x;
  }
}

void WriteQHead(const QHead& q, const PerturbedQ& value, std::int64_t token, std::int64_t head, TensorMap& outputs) {
  Tensor& weights = outputs.at("weights_out");
  const std::int64_t cell = token * weights.dim(1) + head;
  if (q.weight_out_bf16) {
    weights.as<std::uint16_t>()[cell] = value.weight_bf16;
  } else {
    weights.as<float>()[cell] = std::isnan(value.weight) ? std::bit_cast<float>(0x7FFFFFFFU) : value.weight;
  }
  if (q.kind == QKind::kMxfp4) {
    WritePacked(outputs.at("q_packed").bytes() + cell * q.head_dim / 2, value.stored.blocks);
    std::uint8_t* scales = outputs.at("q_scale").bytes() + cell * q.head_dim / 32;
    for (const StoredBlock& block : value.stored.blocks) *scales++ = Ue8m0Of(block.exponent);
  } else {
    const std::vector<std::uint8_t>& codes = value.stored.blocks[0].codes;
    std::copy(codes.begin(), codes.end(), outputs.at("q_fp8").bytes() + cell * q.head_dim);
  }
}

}  // namespace kvexact::oracle
