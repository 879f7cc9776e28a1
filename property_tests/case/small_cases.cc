// SPDX-License-Identifier: Apache-2.0
#include "property_tests/case/small_cases.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

namespace kvexact::test {
namespace {

using spec::Operation;

constexpr std::int64_t kNowhere = std::int64_t{1} << 30;
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

template <class T>
Tensor Vector(DType dtype, std::initializer_list<T> values) {
  Tensor tensor(dtype, {static_cast<std::int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.as<T>());
  return tensor;
}

Tensor Filled(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor(dtype, std::move(shape));
  std::uint8_t next = 1;
  for (std::uint8_t& byte : tensor.byte_span()) byte = next = static_cast<std::uint8_t>(next * 5 + 3);
  return tensor;
}

void AddState(Case& c) {
  Params& p = c.params;
  p.overlap = c.op != Operation::kTwoStage && c.op != Operation::kGatherSplit;
  p.block_size = 2;
  p.state_width = p.head_dim * (p.overlap ? 2 : 1);
  p.state_row_stride = 2 * p.state_width + 4;
  c.inputs["state_cache"] = Filled(DType::kF32, {5, 2 * p.state_row_stride + 8});
  c.inputs["token_to_req_indices"] = Vector<std::int32_t>(DType::kI32, {0, 1 << 30, 0, 1, -5, 1 << 30});
  Tensor table(DType::kI32, {2, 3});
  constexpr std::int32_t kBlocks[] = {4, 0, 1 << 30, 3, 1, -1};
  std::copy(std::begin(kBlocks), std::end(kBlocks), table.as<std::int32_t>());
  c.inputs["block_table"] = std::move(table);
}

void AddCache(Case& c) {
  Params& p = c.params;
  const spec::Layout& layout = *c.row().layout;
  p.quant_block = layout.quant_block;
  p.token_stride = layout.token_stride;
  p.scale_dim = layout.scale_stride;
  p.kv_cache_block_size = 2;
  p.rms_norm_eps = 1e-6;
  c.inputs["kv_slot_mapping"] = Vector<std::int64_t>(DType::kI64, {3, kNowhere, 0, -1, 0, 3});
  c.inputs["rms_norm_weight"] = Filled(DType::kBf16, {p.head_dim});
  c.inputs["cos_sin_cache"] = Filled(DType::kF32, {3, p.rope_head_dim + 2});
  c.outputs_before["kv_cache"] = Filled(DType::kU8, {3, 2 * (layout.token_stride + layout.scale_stride) + 16});
}

Case SmallCompressCase(Operation op) {
  Case c;
  c.op = op;
  c.params.head_dim = c.row().head_dim;
  c.params.compress_ratio = 2;
  c.params.num_actual = 5;
  c.inputs["positions"] = Vector<std::int64_t>(DType::kI64, {1, 2, 3, 3, kLowest, kNowhere + 1});
  c.inputs["slot_mapping"] = Vector<std::int64_t>(DType::kI64, {0, 7, 1 << 20, 2, -1, 0});
  if (c.row().reads_state) AddState(c);
  if (c.row().layout != nullptr) AddCache(c);
  if (op == Operation::kTwoStage) c.params.num_decode_tokens = 2;
  if (op == Operation::kGatherSplit) {
    c.params.num_splits = 4;
    c.outputs_before["scratch"] = Filled(DType::kF32, {6, 512});
  }
  if (op == Operation::kFinalize) c.inputs["scratch"] = Filled(DType::kF32, {6, 520});
  return c;
}

Case SmallQCase(Operation op) {
  Case c;
  c.op = op;
  c.params.head_dim = 128;
  c.params.num_actual = 2;
  c.params.softmax_scale = 0.1;
  c.params.head_scale = -0.25;
  c.inputs["positions"] = Vector<std::int64_t>(DType::kI64, {3, 0, kLowest});
  c.inputs["index_q"] = Filled(DType::kBf16, {3, 3, 128});
  c.inputs["index_weights"] = Filled(DType::kBf16, {3, 3});
  c.inputs["cos_sin_cache"] = Filled(DType::kBf16, {4, 64});
  if (op == Operation::kIndexerQFp8) {
    c.params.q_fnuz = true;
    c.outputs_before["q_fp8"] = Filled(DType::kU8, {3, 3, 128});
    c.outputs_before["weights_out"] = Filled(DType::kF32, {3, 3});
  } else {
    c.outputs_before["q_packed"] = Filled(DType::kU8, {3, 3, 64});
    c.outputs_before["q_scale"] = Filled(DType::kU8, {3, 3, 4});
    c.outputs_before["weights_out"] = Filled(DType::kBf16, {3, 3});
  }
  return c;
}

}  // namespace

std::vector<Operation> AllOperations() {
  std::vector<Operation> operations;
  for (const spec::OperationRow& row : spec::kOperations) operations.push_back(row.id);
  return operations;
}

Case SmallCase(Operation op) {
  Case c = spec::row(op).family == spec::Family::kCompress ? SmallCompressCase(op) : SmallQCase(op);
  c.name = std::string("small ") + c.row().name;
  c.notes["dist"] = "bytes";
  return c;
}

Case EmptyCase(Operation op) {
  Case c = SmallCase(op);
  c.params.num_actual = 0;
  for (TensorMap* tensors : {&c.inputs, &c.outputs_before}) {
    for (auto& [name, tensor] : *tensors) {
      if (name == "rms_norm_weight") continue;
      std::vector<std::int64_t> shape = tensor.shape();
      shape[0] = 0;
      tensor = Tensor(tensor.dtype(), shape);
    }
  }
  return c;
}

}  // namespace kvexact::test
