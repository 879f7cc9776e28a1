// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/compress.h"

#include <bit>

#include "gpu/operations/checks.h"
#include "gpu/operations/launch.h"
#include "reference/spec/strict_numerics.h"

namespace kvexact::gpu {
namespace {

// A kernel specialised to the shape, or the general one.
enum class Shape { kRatio4, kRatio128, kAny };

bool SameLayout(const spec::Layout& a, const spec::Layout& b) {
  return a.token_stride == b.token_stride && a.codes_offset == b.codes_offset && a.rope_offset == b.rope_offset &&
         a.scale_stride == b.scale_stride && a.scales_offset == b.scales_offset &&
         a.scales_behind_page == b.scales_behind_page && a.pad_scales == b.pad_scales;
}

bool StateAligned(const CompressDescription& d) {
  return Address(d.state_cache) % 16 == 0 && d.state_block_stride % 4 == 0 && d.state_row_stride % 4 == 0 &&
         d.state_width % 4 == 0;
}

Shape ShapeOf(const CompressDescription& d) {
  const spec::PagedCache& p = d.cache_placement;
  const bool packed = d.state_width == d.head_dim * (d.overlap ? 2 : 1) && d.state_row_stride == 2 * d.state_width;
  const bool stores_aligned =
      (Address(d.cache) + static_cast<std::uint64_t>(p.base_offset)) % 8 == 0 && p.page_stride % 8 == 0;
  if (!packed || !stores_aligned || !StateAligned(d) || d.rope_head_dim != 64 ||
      !SameLayout(p.layout, *spec::row(d.op).layout)) {
    return Shape::kAny;
  }
  if (d.ratio == 4 && d.overlap && d.block_size == 4) return Shape::kRatio4;
  if (d.ratio == 128 && !d.overlap && d.block_size == 8 && d.head_dim == 512) return Shape::kRatio128;
  return Shape::kAny;
}

CompressArguments ArgumentsOf(const CompressDescription& d) {
  CompressArguments a{};
  a.state = d.state_cache;
  a.block_stride = d.state_block_stride;
  a.row_stride = d.state_row_stride;
  a.state_width = d.state_width;
  a.block_size = d.block_size;
  a.ratio = d.ratio;
  a.window_rows = d.ratio * (d.overlap ? 2 : 1);
  const int shift = spec::WeightShift(a.window_rows);
  a.weight_magic = spec::RoundToInteger(shift);
  a.weight_cutoff = spec::WeightCutoff(shift);
  a.tokens = d.num_actual;
  a.token_to_req = d.token_to_req;
  a.positions = d.positions;
  a.slots = d.slots;
  a.kv_slots = d.kv_slots;
  a.block_table = d.block_table;
  a.table_stride = d.block_table_stride;
  a.norm_weight = d.norm_weight;
  a.norm_weight_bf16 = d.norm_weight_bf16;
  a.eps = d.rms_norm_eps;
  a.cos_sin = d.cos_sin;
  a.cos_sin_stride = d.cos_sin_stride;
  a.rope_dim = d.rope_head_dim;
  a.cache = d.cache;
  a.placement = d.cache_placement;
  const auto page_tokens = static_cast<std::uint64_t>(d.cache_placement.page_tokens);
  a.page_shift = std::has_single_bit(page_tokens) ? std::countr_zero(page_tokens) : -1;
  a.scratch = d.op == spec::Operation::kGatherSplit ? d.scratch_out : const_cast<float*>(d.scratch);
  a.scratch_stride = d.scratch_stride;
  a.state_aligned = StateAligned(d);
  return a;
}

cudaError_t LaunchFused(const CompressDescription& d, const CompressArguments& a, const Machine& machine, cudaStream_t stream) {
  const bool sparse = d.head_dim == 512;
  switch (ShapeOf(d)) {
    case Shape::kRatio4:
      if (sparse) return LaunchSparseRatio4(a, machine, stream);
      return LaunchIndexerRatio4(a, d.op == spec::Operation::kIndexerMxfp4, machine, stream);
    case Shape::kRatio128:
      return LaunchSparseRatio128(a, machine, stream);
    case Shape::kAny:
      break;
  }
  return LaunchCompressAny(a, static_cast<int>(d.head_dim), machine, stream);
}

}  // namespace

Status Launch(const CompressDescription& d, cudaStream_t stream) {
  if (Status s = Check(d); !s.ok() || d.num_actual == 0) return s;
  Machine machine;
  if (Status s = ThisMachine(machine); !s.ok()) return s;
  return Launch(d, machine, stream);
}

Status Launch(const CompressDescription& d, const Machine& machine, cudaStream_t stream) {
  if (Status s = Check(d); !s.ok() || d.num_actual == 0) return s;
  const CompressArguments a = ArgumentsOf(d);
  switch (d.op) {
    case spec::Operation::kGatherSplit:
      return FromCuda(LaunchGatherSplit(a, machine, stream));
    case spec::Operation::kFinalize:
      return FromCuda(LaunchFinalize(a, machine, stream));
    default:
      return FromCuda(LaunchFused(d, a, machine, stream));
  }
}

}  // namespace kvexact::gpu
