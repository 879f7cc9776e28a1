// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/compress.h"

#include "gpu/operations/checks.h"
#include "gpu/operations/compress_arguments.h"
#include "gpu/operations/launch.h"

namespace kvexact::gpu {
namespace {

// A kernel specialised to the shape, or the general one.
enum class Shape { kRatio4, kRatio128, kAny };

bool SameLayout(const spec::Layout& a, const spec::Layout& b) {
  return a.token_stride == b.token_stride && a.codes_offset == b.codes_offset && a.rope_offset == b.rope_offset &&
         a.scale_stride == b.scale_stride && a.scales_offset == b.scales_offset &&
         a.scales_behind_page == b.scales_behind_page && a.pad_scales == b.pad_scales;
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

cudaError_t LaunchFused(const CompressDescription& d, const CompressArguments& a, const Machine& machine,
                        cudaStream_t stream) {
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
