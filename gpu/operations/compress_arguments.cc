// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/compress_arguments.h"

#include <bit>

#include "gpu/operations/checks.h"
#include "reference/spec/strict_numerics.h"

namespace kvexact::gpu {

bool StateAligned(const CompressDescription& d) {
  return Address(d.state_cache) % 16 == 0 && d.state_block_stride % 4 == 0 && d.state_row_stride % 4 == 0 &&
         d.state_width % 4 == 0;
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

}  // namespace kvexact::gpu
