// SPDX-License-Identifier: Apache-2.0
#include "harness/case/schema.h"

namespace kvexact::schema {
namespace {

using enum spec::Operation;

constexpr Bits kSinglePass = Bit(kSparseAttn) | Bit(kIndexerFp8) | Bit(kIndexerMxfp4) | Bit(kTwoStage);
constexpr Bits kGather = kSinglePass | Bit(kGatherSplit);
constexpr Bits kStore = kSinglePass | Bit(kFinalize);
constexpr Bits kCompress = kGather | kStore;
constexpr Bits kQ = Bit(kIndexerQFp8) | Bit(kIndexerQMxfp4);
constexpr Bits kAll = kCompress | kQ;

constexpr ParamRow kParamRows[] = {
    {"head_dim", &Params::head_dim, kAll, true},
    {"rope_head_dim", &Params::rope_head_dim, kStore | kQ, true},
    {"compress_ratio", &Params::compress_ratio, kCompress, true},
    {"overlap", &Params::overlap, kGather, true},
    {"block_size", &Params::block_size, kGather, true},
    {"state_width", &Params::state_width, kGather, true},
    {"state_row_stride", &Params::state_row_stride, kGather, true},
    {"quant_block", &Params::quant_block, kStore, true},
    {"token_stride", &Params::token_stride, kStore, true},
    {"scale_dim", &Params::scale_dim, kStore, true},
    {"kv_cache_block_size", &Params::kv_cache_block_size, kStore, true},
    {"kv_cache_base_offset", &Params::kv_cache_base_offset, kStore, false},
    {"layout", &Params::layout, kStore, false},
    {"rms_norm_eps", &Params::rms_norm_eps, kStore, true},
    {"num_actual", &Params::num_actual, kAll, true},
    {"num_decode_tokens", &Params::num_decode_tokens, Bit(kTwoStage), true},
    {"num_splits", &Params::num_splits, Bit(kGatherSplit), true},
    {"softmax_scale", &Params::softmax_scale, kQ, true},
    {"head_scale", &Params::head_scale, kQ, true},
    {"q_fnuz", &Params::q_fnuz, Bit(kIndexerQFp8), false},
};

constexpr Bits kU8 = Bit(DType::kU8);
constexpr Bits kF32 = Bit(DType::kF32);
constexpr Bits kF32OrBf16 = Bit(DType::kF32) | Bit(DType::kBf16);
constexpr Bits kI32 = Bit(DType::kI32);
constexpr Bits kI64 = Bit(DType::kI64);

constexpr TensorRow kTensorRows[] = {
    {"state_cache", Role::kInput, kGather, kF32, 2},
    {"token_to_req_indices", Role::kInput, kGather, kI32, 1},
    {"positions", Role::kInput, kAll, kI64, 1},
    {"slot_mapping", Role::kInput, kCompress, kI64, 1},
    {"kv_slot_mapping", Role::kInput, kStore, kI64, 1},
    {"block_table", Role::kInput, kGather, kI32, 2},
    {"rms_norm_weight", Role::kInput, kStore, kF32OrBf16, 1},
    {"cos_sin_cache", Role::kInput, kStore, kF32, 2},
    {"cos_sin_cache", Role::kInput, kQ, kF32OrBf16, 2},
    {"scratch", Role::kInput, Bit(kFinalize), kF32, 2},
    {"index_q", Role::kInput, kQ, Bit(DType::kBf16), 3},
    {"index_weights", Role::kInput, kQ, kF32OrBf16, 2},
    {"kv_cache", Role::kOutput, kStore, kU8, 2},
    {"scratch", Role::kOutput, Bit(kGatherSplit), kF32, 2},
    {"q_fp8", Role::kOutput, Bit(kIndexerQFp8), kU8, 3},
    {"q_packed", Role::kOutput, Bit(kIndexerQMxfp4), kU8, 3},
    {"q_scale", Role::kOutput, Bit(kIndexerQMxfp4), kU8, 3},
    {"weights_out", Role::kOutput, Bit(kIndexerQFp8), kF32, 2},
    {"weights_out", Role::kOutput, Bit(kIndexerQMxfp4), kF32OrBf16, 2},
};

}  // namespace

std::span<const ParamRow> ParamRows() { return kParamRows; }
std::span<const TensorRow> TensorRows() { return kTensorRows; }

std::string TypeNames(Bits types) {
  std::string names;
  for (const DType type : {DType::kU8, DType::kF32, DType::kBf16, DType::kI32, DType::kI64}) {
    if ((types & Bit(type)) == 0) continue;
    if (!names.empty()) names += " or ";
    names += NameOf(type);
  }
  return names;
}

std::optional<spec::Operation> OperationNamed(std::string_view name) {
  for (const spec::OperationRow& row : spec::kOperations) {
    if (name == row.name) return row.id;
  }
  return std::nullopt;
}

const spec::Layout* LayoutNamed(std::string_view name) {
  for (const spec::Layout* layout : spec::kLayouts) {
    if (name == layout->name) return layout;
  }
  return nullptr;
}

bool Fits(const spec::Layout& layout, spec::Operation op) {
  const spec::Layout* own = spec::row(op).layout;
  return own != nullptr && layout.code_type == own->code_type && layout.code_values == own->code_values &&
         layout.quant_block == own->quant_block && layout.scale_type == own->scale_type &&
         layout.rope_values == own->rope_values;
}

}  // namespace kvexact::schema
