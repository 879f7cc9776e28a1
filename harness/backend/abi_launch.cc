// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/abi_launch.h"

#include "harness/backend/abi_layout.h"

namespace kvexact {
namespace {

std::int32_t AbiDType(DType type) {
  switch (type) {
    case DType::kU8:
      return KVEXACT_U8;
    case DType::kBf16:
      return KVEXACT_BF16;
    case DType::kF32:
      return KVEXACT_F32;
    case DType::kI32:
      return KVEXACT_I32;
    case DType::kI64:
      return KVEXACT_I64;
  }
  return -1;
}

std::int32_t AbiOperation(spec::Operation op) {
  switch (op) {
    case spec::Operation::kSparseAttn:
      return KVEXACT_SPARSE_ATTN;
    case spec::Operation::kIndexerFp8:
      return KVEXACT_INDEXER_FP8;
    case spec::Operation::kIndexerMxfp4:
      return KVEXACT_INDEXER_MXFP4;
    case spec::Operation::kTwoStage:
      return KVEXACT_TWO_STAGE;
    case spec::Operation::kGatherSplit:
      return KVEXACT_GATHER_SPLIT;
    case spec::Operation::kFinalize:
      return KVEXACT_FINALIZE;
    case spec::Operation::kIndexerQFp8:
      return KVEXACT_INDEXER_Q_FP8;
    case spec::Operation::kIndexerQMxfp4:
      return KVEXACT_INDEXER_Q_MXFP4;
  }
  return -1;
}

std::int32_t AbiQCodeType(const Case& c) {
  if (c.op == spec::Operation::kIndexerQMxfp4) return KVEXACT_E2M1;
  return c.params.q_fnuz ? KVEXACT_E4M3FNUZ : KVEXACT_E4M3FN;
}

kvexact_params ParamsOf(const Case& c) {
  const Params& p = c.params;
  kvexact_params out{};
  out.struct_size = sizeof out;
  out.operation = AbiOperation(c.op);
  out.head_dim = p.head_dim;
  out.num_actual = p.num_actual;
  if (c.row().family == spec::Family::kIndexerQ) {
    out.rope_head_dim = p.rope_head_dim;
    out.softmax_scale = static_cast<float>(p.softmax_scale);
    out.head_scale = static_cast<float>(p.head_scale);
    out.q_code_type = AbiQCodeType(c);
    return out;
  }
  out.compress_ratio = p.compress_ratio;
  out.overlap = p.overlap ? 1 : 0;
  if (c.row().layout != nullptr) {
    out.rope_head_dim = p.rope_head_dim;
    out.rms_norm_eps = static_cast<float>(p.rms_norm_eps);
  }
  if (c.row().reads_state) {
    out.block_size = p.block_size;
    out.state_width = p.state_width;
    out.state_row_stride = p.state_row_stride;
  }
  if (c.op == spec::Operation::kTwoStage) out.num_decode_tokens = p.num_decode_tokens;
  if (c.op == spec::Operation::kGatherSplit) out.num_splits = p.num_splits;
  return out;
}

kvexact_kv_layout LayoutOf(const Case& c) {
  const spec::PagedCache cache = CacheOf(c);
  kvexact_kv_layout out = AbiLayout(cache.layout);
  out.page_tokens = cache.page_tokens;
  out.page_stride = cache.page_stride;
  out.base_offset = cache.base_offset;
  out.pages = cache.pages;
  return out;
}

// Row-major and contiguous.
kvexact_tensor Describe(const std::string& name, const Tensor& tensor, void* data, bool is_output) {
  kvexact_tensor out{};
  out.struct_size = sizeof out;
  out.dtype = AbiDType(tensor.dtype());
  out.memory = KVEXACT_MEMORY_HOST;
  out.rank = static_cast<std::int32_t>(tensor.shape().size());
  out.name = name.c_str();
  std::int64_t stride = 1;
  for (std::size_t i = tensor.shape().size(); i-- > 0;) {
    out.shape[i] = tensor.dim(i);
    out.strides[i] = stride;
    stride *= tensor.dim(i);
  }
  out.data = data;
  out.size_bytes = static_cast<std::uint64_t>(tensor.size_bytes());
  out.is_output = is_output ? 1 : 0;
  return out;
}

}  // namespace

AbiLaunch::AbiLaunch(const Case& c) : params_(ParamsOf(c)), layout_(LayoutOf(c)), launch_{} {
  for (const auto& [name, tensor] : c.inputs) tensors_.push_back(Describe(name, tensor, nullptr, false));
  for (const auto& [name, tensor] : c.outputs_before) tensors_.push_back(Describe(name, tensor, nullptr, true));
  Link(c);
}

AbiLaunch::AbiLaunch(const Case& c, TensorMap& inputs, TensorMap& outputs)
    : params_(ParamsOf(c)), layout_(LayoutOf(c)), launch_{} {
  for (auto& [name, tensor] : inputs) tensors_.push_back(Describe(name, tensor, tensor.bytes(), false));
  for (auto& [name, tensor] : outputs) tensors_.push_back(Describe(name, tensor, tensor.bytes(), true));
  Link(c);
}

void AbiLaunch::Link(const Case& c) {
  for (const kvexact_tensor& tensor : tensors_) pointers_.push_back(&tensor);
  launch_.struct_size = sizeof launch_;
  launch_.num_tensors = static_cast<std::uint32_t>(pointers_.size());
  launch_.tensors = pointers_.data();
  launch_.params = &params_;
  launch_.kv_layout = c.row().layout != nullptr ? &layout_ : nullptr;
}

}  // namespace kvexact
