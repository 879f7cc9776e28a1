// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/checks.h"
#include "gpu/operations/compress.h"

namespace kvexact::gpu {
namespace {

Status CheckState(const CompressDescription& d) {
  const std::int64_t columns = d.head_dim * (d.overlap ? 2 : 1);
  if (Status s = RequireAligned("state_cache", d.state_cache, 4); !s.ok()) return s;
  if (Status s = RequireAligned("token_to_req", d.token_to_req, 4); !s.ok()) return s;
  if (Status s = RequireAligned("block_table", d.block_table, 4); !s.ok()) return s;
  if (Status s = RequireRange("block_size", d.block_size, 1, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("state_width", d.state_width, columns, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("state_row_stride", d.state_row_stride, d.state_width + columns, kMaxExtent); !s.ok())
    return s;
  if (Status s = RequireRange("state_block_stride", d.state_block_stride, 0, kMaxExtent); !s.ok()) return s;
  return RequireRange("block_table_stride", d.block_table_stride, 0, kMaxExtent);
}

Status CheckLayout(const CompressDescription& d) {
  const spec::PagedCache& p = d.cache_placement;
  const spec::Layout& layout = p.layout;
  const spec::Layout& own = *spec::row(d.op).layout;
  if (layout.code_type != own.code_type || layout.code_values != own.code_values ||
      layout.quant_block != own.quant_block || layout.scale_type != own.scale_type ||
      layout.rope_values != own.rope_values) {
    return Unsupported("cache_placement.layout", "cannot hold what the operation stores");
  }
  if (layout.rope_values > 0 && d.rope_head_dim != layout.rope_values) {
    return Invalid("rope_head_dim", "must be the layout's RoPE values");
  }
  for (const int offset : {layout.token_stride, layout.codes_offset, layout.rope_offset, layout.scale_stride,
                           layout.scales_offset, layout.pad_scales}) {
    if (offset < 0) return Invalid("cache_placement.layout", "holds a negative offset");
  }
  if (Status s = RequireRange("cache_placement.page_tokens", p.page_tokens, 1, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("cache_placement.base_offset", p.base_offset, 0, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("cache_placement.page_stride", p.page_stride, 0, kMaxExtent); !s.ok()) return s;
  const auto aligned = [&](std::int64_t first, std::int64_t token_step, std::int64_t bytes) {
    return (Address(d.cache) + static_cast<std::uint64_t>(first)) % static_cast<std::uint64_t>(bytes) == 0 &&
           p.page_stride % bytes == 0 && (p.page_tokens == 1 || token_step % bytes == 0);
  };
  if (layout.rope_values > 0 && !aligned(p.rope(0), layout.token_stride, 2)) {
    return Invalid("cache", "misaligns bf16 values");
  }
  const int scale_step = layout.scales_behind_page ? layout.scale_stride : layout.token_stride;
  if (layout.scale_type == spec::ScaleType::kFp32Word && !aligned(p.scales(0), scale_step, 4)) {
    return Invalid("cache", "misaligns fp32 scales");
  }
  return {};
}

Status CheckStore(const CompressDescription& d) {
  if (Status s = RequireAligned("kv_slots", d.kv_slots, 8); !s.ok()) return s;
  if (Status s = RequireAligned("norm_weight", d.norm_weight, d.norm_weight_bf16 ? 2 : 4); !s.ok()) return s;
  if (Status s = RequireAligned("cos_sin", d.cos_sin, 4); !s.ok()) return s;
  if (Status s = RequireAligned("cache", d.cache, 1); !s.ok()) return s;
  if (Status s = RequireRange("rope_head_dim", d.rope_head_dim, 0, d.head_dim); !s.ok()) return s;
  if (d.rope_head_dim % 2 != 0) return Invalid("rope_head_dim", "must be even");
  if (Status s = RequireRange("cos_sin_stride", d.cos_sin_stride, d.rope_head_dim, kMaxExtent); !s.ok()) return s;
  if (!(d.rms_norm_eps > 0)) return Invalid("rms_norm_eps", "must be above 0");
  return CheckLayout(d);
}

}  // namespace

Status Check(const CompressDescription& d) {
  const auto op = static_cast<std::size_t>(d.op);
  if (op >= std::size(spec::kOperations) || spec::row(d.op).family != spec::Family::kCompress) {
    return Unsupported("op", "is no compression operation");
  }
  const spec::OperationRow& row = spec::row(d.op);
  if (d.head_dim != row.head_dim) return Unsupported("head_dim", "must be " + std::to_string(row.head_dim));
  if (Status s = RequireRange("num_actual", d.num_actual, 0, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("ratio", d.ratio, 1, kMaxExtent); !s.ok()) return s;
  if (d.num_actual == 0) return {};

  if (Status s = RequireAligned("positions", d.positions, 8); !s.ok()) return s;
  if (Status s = RequireAligned("slots", d.slots, 8); !s.ok()) return s;
  if (d.op == spec::Operation::kTwoStage && d.overlap) return Unsupported("overlap", "two_stage has no overlap");
  if (row.reads_state) {
    if (Status s = CheckState(d); !s.ok()) return s;
  }
  if (row.layout != nullptr) {
    if (Status s = CheckStore(d); !s.ok()) return s;
  }
  const bool gathers = d.op == spec::Operation::kGatherSplit;
  if (gathers || d.op == spec::Operation::kFinalize) {
    const float* rows = gathers ? d.scratch_out : d.scratch;
    if (Status s = RequireAligned(gathers ? "scratch_out" : "scratch", rows, 4); !s.ok()) return s;
    if (Status s = RequireRange("scratch_stride", d.scratch_stride, d.head_dim, kMaxExtent); !s.ok()) return s;
  }
  if (gathers && (d.num_splits < 1 || d.head_dim % d.num_splits != 0)) {
    return Invalid("num_splits", "must divide head_dim");
  }
  return {};
}

}  // namespace kvexact::gpu
