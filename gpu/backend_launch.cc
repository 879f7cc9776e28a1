// SPDX-License-Identifier: Apache-2.0
#include "gpu/backend_launch.h"

#include <string>

#include "gpu/operations/checks.h"

namespace kvexact::gpu {
namespace {

// Collects the tensors of a launch; the first that is missing or wrong is remembered.
class Tensors {
 public:
  explicit Tensors(const kvexact_launch& launch) : launch_(launch) {}
  const Status& status() const { return status_; }

  // The tensor of that name with one of two types and contiguous rows (stride 1 in the last dimension); null if there
  // is none.
  const kvexact_tensor* Get(const char* name, std::int32_t rank, std::int32_t type, std::int32_t other_type = -1) {
    const kvexact_tensor* tensor = kvexact_find_tensor(&launch_, name);
    if (tensor == nullptr) {
      Fail(Invalid(name, "is missing"));
    } else if (tensor->rank != rank) {
      Fail(Invalid(name, "has " + std::to_string(tensor->rank) + " dimensions, must have " + std::to_string(rank)));
    } else if (tensor->dtype != type && tensor->dtype != other_type) {
      Fail(Invalid(name, "has a wrong type"));
    } else if (tensor->strides[rank - 1] != 1 && tensor->shape[rank - 1] > 1) {
      Fail(Unsupported(name, "rows are not contiguous"));
    } else {
      return tensor;
    }
    return nullptr;
  }

  // Its memory as T, and, where asked for, its first stride and whether it is bf16.
  template <class T>
  void Take(const char* name, std::int32_t rank, std::int32_t type, T*& data, std::int64_t* stride = nullptr) {
    if (const kvexact_tensor* tensor = Get(name, rank, type)) {
      data = static_cast<T*>(tensor->data);
      if (stride != nullptr) *stride = tensor->strides[0];
    }
  }
  void TakeFloat(const char* name, std::int32_t rank, const void*& data, bool& bf16, std::int64_t* stride = nullptr) {
    if (const kvexact_tensor* tensor = Get(name, rank, KVEXACT_F32, KVEXACT_BF16)) {
      data = tensor->data;
      bf16 = tensor->dtype == KVEXACT_BF16;
      if (stride != nullptr) *stride = tensor->strides[0];
    }
  }
  // An output that the kernels write row by row, with no gaps.
  void* TakePacked(const char* name, std::int32_t rank, std::int32_t type, std::int32_t other_type = -1) {
    const kvexact_tensor* tensor = Get(name, rank, type, other_type);
    if (tensor == nullptr) return nullptr;
    std::int64_t packed = 1;
    for (std::int32_t i = rank - 1; i >= 0; packed *= tensor->shape[i], --i) {
      if (tensor->strides[i] != packed && tensor->shape[i] > 1) Fail(Unsupported(name, "is not contiguous"));
    }
    return tensor->data;
  }

  void Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }

 private:
  const kvexact_launch& launch_;
  Status status_;
};

spec::PagedCache PlacementOf(const kvexact_kv_layout& in) {
  spec::PagedCache out{};
  out.layout.name = "launch";
  out.layout.code_type = in.code_type == KVEXACT_E2M1 ? spec::CodeType::kE2M1Nibble : spec::CodeType::kE4M3Byte;
  out.layout.code_values = static_cast<int>(in.code_values);
  out.layout.quant_block = static_cast<int>(in.quant_block);
  out.layout.scale_type = in.scale_type == KVEXACT_SCALE_F32 ? spec::ScaleType::kFp32Word : spec::ScaleType::kUe8m0Byte;
  out.layout.token_stride = static_cast<int>(in.token_stride);
  out.layout.codes_offset = static_cast<int>(in.codes_offset);
  out.layout.rope_values = static_cast<int>(in.rope_values);
  out.layout.rope_offset = static_cast<int>(in.rope_offset);
  out.layout.scale_stride = static_cast<int>(in.scale_stride);
  out.layout.scales_offset = static_cast<int>(in.scales_offset);
  out.layout.scales_behind_page = in.scales_behind_page != 0;
  out.layout.pad_scales = static_cast<int>(in.pad_scales);
  out.page_tokens = in.page_tokens;
  out.page_stride = in.page_stride;
  out.base_offset = in.base_offset;
  out.pages = in.pages;
  return out;
}

Status DescribeCompress(const kvexact_launch& launch, CompressDescription& d) {
  const kvexact_params& p = *launch.params;
  Tensors tensors(launch);
  d.op = static_cast<spec::Operation>(p.operation);
  const spec::OperationRow& row = spec::row(d.op);
  d.head_dim = p.head_dim;
  d.rope_head_dim = p.rope_head_dim;
  d.ratio = p.compress_ratio;
  d.overlap = p.overlap != 0;
  d.rms_norm_eps = p.rms_norm_eps;
  d.num_actual = p.num_actual;
  d.num_decode_tokens = p.num_decode_tokens;
  tensors.Take("positions", 1, KVEXACT_I64, d.positions);
  tensors.Take("slot_mapping", 1, KVEXACT_I64, d.slots);
  if (row.reads_state) {
    d.block_size = p.block_size;
    d.state_width = p.state_width;
    d.state_row_stride = p.state_row_stride;
    tensors.Take("state_cache", 2, KVEXACT_F32, d.state_cache, &d.state_block_stride);
    tensors.Take("token_to_req_indices", 1, KVEXACT_I32, d.token_to_req);
    tensors.Take("block_table", 2, KVEXACT_I32, d.block_table, &d.block_table_stride);
  }
  if (row.layout != nullptr) {
    tensors.Take("kv_slot_mapping", 1, KVEXACT_I64, d.kv_slots);
    tensors.TakeFloat("rms_norm_weight", 1, d.norm_weight, d.norm_weight_bf16);
    tensors.Take("cos_sin_cache", 2, KVEXACT_F32, d.cos_sin, &d.cos_sin_stride);
    d.cache = static_cast<std::uint8_t*>(tensors.TakePacked("kv_cache", 2, KVEXACT_U8));
    if (launch.kv_layout == nullptr) return Invalid("kv_layout", "is missing");
    d.cache_placement = PlacementOf(*launch.kv_layout);
  }
  if (d.op == spec::Operation::kGatherSplit) {
    d.num_splits = p.num_splits;
    tensors.Take("scratch", 2, KVEXACT_F32, d.scratch_out, &d.scratch_stride);
  } else if (d.op == spec::Operation::kFinalize) {
    tensors.Take("scratch", 2, KVEXACT_F32, d.scratch, &d.scratch_stride);
  }
  return tensors.status();
}

Status DescribeIndexerQ(const kvexact_launch& launch, IndexerQDescription& d) {
  const kvexact_params& p = *launch.params;
  Tensors tensors(launch);
  const bool mxfp4 = p.operation == KVEXACT_INDEXER_Q_MXFP4;
  d.codes = mxfp4 ? QCodes::kE2m1 : p.q_code_type == KVEXACT_E4M3FNUZ ? QCodes::kE4m3Fnuz : QCodes::kE4m3Fn;
  d.tokens = p.num_actual;
  d.head_dim = p.head_dim;
  d.rope_head_dim = p.rope_head_dim;
  d.softmax_scale = p.softmax_scale;
  d.head_scale = p.head_scale;
  if (const kvexact_tensor* q = tensors.Get("index_q", 3, KVEXACT_BF16)) {
    d.q = static_cast<const std::uint16_t*>(q->data);
    d.heads = q->shape[1];
    d.q_token_stride = q->strides[0];
    d.q_head_stride = q->strides[1];
  }
  tensors.Take("positions", 1, KVEXACT_I64, d.positions);
  tensors.TakeFloat("cos_sin_cache", 2, d.cos_sin, d.cos_sin_bf16, &d.cos_sin_stride);
  tensors.TakeFloat("index_weights", 2, d.weights, d.weights_bf16, &d.weights_stride);
  d.code_bytes = static_cast<std::uint8_t*>(tensors.TakePacked(mxfp4 ? "q_packed" : "q_fp8", 3, KVEXACT_U8));
  if (mxfp4) d.scales = static_cast<std::uint8_t*>(tensors.TakePacked("q_scale", 3, KVEXACT_U8));
  d.weights_out = tensors.TakePacked("weights_out", 2, KVEXACT_F32, KVEXACT_BF16);
  if (!tensors.status().ok()) return tensors.status();
  d.weights_out_bf16 = kvexact_find_tensor(&launch, "weights_out")->dtype == KVEXACT_BF16;
  return {};
}

// Any memory that is aligned to everything: stands in for pointers that are not known yet.
template <class T>
void StandIn(T*& p) {
  if (p == nullptr) p = reinterpret_cast<T*>(std::uintptr_t{256});
}
void StandIn(const void*& p) {
  if (p == nullptr) p = reinterpret_cast<const void*>(std::uintptr_t{256});
}
void StandIn(void*& p) {
  if (p == nullptr) p = reinterpret_cast<void*>(std::uintptr_t{256});
}

}  // namespace

Status Describe(const kvexact_launch& launch, Description& description) {
  if (launch.params == nullptr) return Invalid("params", "is missing");
  const std::int32_t op = launch.params->operation;
  if (op < 0 || op > KVEXACT_INDEXER_Q_MXFP4) return Unsupported("operation", "is not known");
  if (op == KVEXACT_INDEXER_Q_FP8 || op == KVEXACT_INDEXER_Q_MXFP4) {
    return DescribeIndexerQ(launch, description.emplace<IndexerQDescription>());
  }
  return DescribeCompress(launch, description.emplace<CompressDescription>());
}

Status CheckShapes(const kvexact_launch& launch) {
  Description description;
  if (Status s = Describe(launch, description); !s.ok()) return s;
  if (auto* d = std::get_if<CompressDescription>(&description)) {
    StandIn(d->state_cache);
    StandIn(d->token_to_req);
    StandIn(d->positions);
    StandIn(d->slots);
    StandIn(d->kv_slots);
    StandIn(d->block_table);
    StandIn(d->norm_weight);
    StandIn(d->cos_sin);
    StandIn(d->cache);
    StandIn(d->scratch);
    StandIn(d->scratch_out);
    return Check(*d);
  }
  auto& d = std::get<IndexerQDescription>(description);
  StandIn(d.q);
  StandIn(d.positions);
  StandIn(d.cos_sin);
  StandIn(d.weights);
  StandIn(d.code_bytes);
  StandIn(d.scales);
  StandIn(d.weights_out);
  return Check(d);
}

Status Launch(const kvexact_launch& launch, cudaStream_t stream) {
  Description description;
  if (Status s = Describe(launch, description); !s.ok()) return s;
  return std::visit([&](const auto& d) { return Launch(d, stream); }, description);
}

Status Launch(const kvexact_launch& launch, const Machine& machine, cudaStream_t stream) {
  Description description;
  if (Status s = Describe(launch, description); !s.ok()) return s;
  return std::visit([&](const auto& d) { return Launch(d, machine, stream); }, description);
}

}  // namespace kvexact::gpu
