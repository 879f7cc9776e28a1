// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "harness/case/case.h"
#include "harness/case/check_entries.h"
#include "harness/case/checked_math.h"
#include "harness/case/schema.h"

namespace kvexact {
namespace {

using schema::Role;

// Beyond any real buffer, and small enough that a product with an element size cannot overflow.
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;
// Strides that spec::Layout holds as int.
constexpr std::int64_t kMaxLayoutStride = std::int64_t{1} << 29;

template <class... Args>
[[noreturn]] void Fail(const Case& c, std::string field, fmt::format_string<Args...> what, Args&&... args) {
  throw InputError(c.name, std::move(field), fmt::format(what, std::forward<Args>(args)...));
}

void RequireAtLeast(const Case& c, const char* field, std::int64_t value, std::int64_t least) {
  if (value < least) Fail(c, field, "is {}, must be at least {}", value, least);
}

void RequireEqual(const Case& c, const char* field, std::int64_t value, std::int64_t expected) {
  if (value != expected) Fail(c, field, "is {}, must be {} for {}", value, expected, c.row().name);
}

void CheckUnusedParams(const Case& c) {
  const Params defaults;
  for (const schema::ParamRow& row : schema::ParamRows()) {
    if (Has(row, c.op)) continue;
    const bool untouched = std::visit([&](const auto field) { return c.params.*field == defaults.*field; }, row.field);
    if (!untouched) Fail(c, row.name, "is no parameter of {} and must keep its default", c.row().name);
  }
}

void CheckNotes(const Case& c) {
  const auto taken = [&](const std::string& name) {
    return name == "schema" || name == "op" || std::ranges::any_of(schema::ParamRows(), [&](const auto& row) {
             return Has(row, c.op) && name == row.name;
           });
  };
  for (const auto& [name, text] : c.notes) {
    if (taken(name)) Fail(c, name, "is a parameter and cannot be a note");
  }
}

bool IsTensorOf(spec::Operation op, Role role, const std::string& name) {
  return std::ranges::any_of(schema::TensorRows(), [&](const schema::TensorRow& row) {
    return row.role == role && Has(row, op) && name == row.name;
  });
}

void CheckTensors(const Case& c, const TensorMap& tensors, Role role, const char* suffix) {
  std::size_t known = 0;
  for (const schema::TensorRow& row : schema::TensorRows()) {
    if (row.role != role || !Has(row, c.op)) continue;
    const std::string field = std::string(row.name) + suffix;
    const auto found = tensors.find(row.name);
    if (found == tensors.end()) Fail(c, field, "is missing");
    const Tensor& tensor = found->second;
    if ((row.types & schema::Bit(tensor.dtype())) == 0) {
      Fail(c, field, "has type {}, must be {}", NameOf(tensor.dtype()), schema::TypeNames(row.types));
    }
    if (tensor.shape().size() != row.rank) {
      Fail(c, field, "has {} dimensions, must have {}", tensor.shape().size(), row.rank);
    }
    for (const std::int64_t extent : tensor.shape()) {
      if (extent > kMaxExtent) Fail(c, field, "has a dimension of {}, the limit is {}", extent, kMaxExtent);
    }
    ++known;
  }
  if (known == tensors.size()) return;
  for (const auto& [name, tensor] : tensors) {
    if (!IsTensorOf(c.op, role, name)) Fail(c, name + suffix, "is no tensor of {}", c.row().name);
  }
}

void CheckOutputsAfter(const Case& c) {
  if (!c.outputs_after) return;
  CheckTensors(c, *c.outputs_after, Role::kOutput, "_after");
  for (const auto& [name, after] : *c.outputs_after) {
    const Tensor& before = c.outputs_before.at(name);
    if (after.dtype() != before.dtype() || after.shape() != before.shape()) {
      Fail(c, name + "_after", "must have the type and shape of {}_before", name);
    }
  }
}

void RequireDim(const Case& c, const Tensor& tensor, const char* field, std::size_t i, std::int64_t expected,
                const char* what) {
  if (tensor.dim(i) != expected) {
    Fail(c, field, "dimension {} is {}, must be {} ({})", i, tensor.dim(i), expected, what);
  }
}

// Rounds to a finite fp32.
void RequireFinite(const Case& c, const char* field, double value) {
  if (!std::isfinite(value) || std::abs(value) > FLT_MAX) Fail(c, field, "is {}, must be finite in fp32", value);
}

void CheckNumActual(const Case& c, std::int64_t tokens) {
  RequireAtLeast(c, "num_actual", c.params.num_actual, 0);
  if (c.params.num_actual > tokens) {
    Fail(c, "num_actual", "is {}, but positions has {} tokens", c.params.num_actual, tokens);
  }
}

void CheckRope(const Case& c) {
  const std::int64_t rope = c.params.rope_head_dim;
  if (rope < 2 || rope % 2 != 0 || rope > c.params.head_dim) {
    Fail(c, "rope_head_dim", "is {}, must be even, at least 2 and at most head_dim ({})", rope, c.params.head_dim);
  }
  const Tensor& table = c.inputs.at("cos_sin_cache");
  if (table.dim(1) < rope) Fail(c, "cos_sin_cache", "rows hold {} values, rope_head_dim is {}", table.dim(1), rope);
}

void CheckWindow(const Case& c) {
  const Params& p = c.params;
  const std::int64_t most = kMaxWindowRows / (p.overlap ? 2 : 1);
  RequireAtLeast(c, "compress_ratio", p.compress_ratio, 1);
  if (p.compress_ratio > most) {
    Fail(c, "compress_ratio", "is {}, at most {} rows a window are defined", p.compress_ratio, kMaxWindowRows);
  }
}

void CheckState(const Case& c) {
  const Params& p = c.params;
  const bool split = c.op == spec::Operation::kTwoStage || c.op == spec::Operation::kGatherSplit;
  if (split && p.overlap) Fail(c, "overlap", "must be false for {}", c.row().name);
  RequireAtLeast(c, "block_size", p.block_size, 1);
  const std::int64_t columns = p.head_dim * (p.overlap ? 2 : 1);  // KV columns, and as many scores
  if (p.state_width < columns) {
    Fail(c, "state_width", "is {}, must be at least head_dim * (1 + overlap) = {}", p.state_width, columns);
  }
  const std::optional<std::int64_t> row_used = CheckedAdd(p.state_width, columns);
  if (!row_used || p.state_row_stride < *row_used) {
    Fail(c, "state_row_stride", "is {}, a row's KV and scores end at {} + {}", p.state_row_stride, p.state_width,
         columns);
  }
  const Tensor& state = c.inputs.at("state_cache");
  const std::optional<std::int64_t> block_used = CheckedMulAdd(p.block_size - 1, p.state_row_stride, *row_used);
  if (state.dim(0) > 0 && (!block_used || *block_used > state.dim(1))) {
    Fail(c, "state_cache", "a block holds {} elements, row {} ends beyond it", state.dim(1), p.block_size - 1);
  }
}

const spec::Layout& LayoutOf(const Case& c) {
  if (c.params.layout.empty()) return *c.row().layout;
  const spec::Layout* layout = schema::LayoutNamed(c.params.layout);
  if (layout == nullptr) Fail(c, "layout", "\"{}\" is not known", c.params.layout);
  if (!schema::Fits(*layout, c.op)) Fail(c, "layout", "{} cannot hold the output of {}", layout->name, c.row().name);
  return *layout;
}

void CheckTokenBytes(const Case& c, const spec::Layout& layout) {
  const Params& p = c.params;
  const std::int64_t scale_bytes = layout.scales() * layout.scale_bytes() + layout.pad_scales;
  std::int64_t token_bytes = layout.codes_offset + layout.code_bytes();
  token_bytes = std::max<std::int64_t>(token_bytes, layout.rope_offset + 2 * layout.rope_values);
  if (!layout.scales_behind_page) token_bytes = std::max(token_bytes, layout.scales_offset + scale_bytes);
  const std::int64_t scale_end = layout.scales_behind_page ? layout.scales_offset + scale_bytes : scale_bytes;
  if (p.token_stride < token_bytes || p.token_stride > kMaxLayoutStride) {
    Fail(c, "token_stride", "is {}, a token's bytes end at {}", p.token_stride, token_bytes);
  }
  if (p.scale_dim < scale_end || p.scale_dim > kMaxLayoutStride) {
    Fail(c, "scale_dim", "is {}, a token's scales end at {}", p.scale_dim, scale_end);
  }
  // The MXFP4 kernel asserts both strides.
  if (&layout == &spec::kIndexerMxfp4Layout) {
    RequireEqual(c, "token_stride", p.token_stride, token_bytes);
    RequireEqual(c, "scale_dim", p.scale_dim, scale_end);
  }
}

// Every token's values of `alignment` bytes, the first of which stands `first` bytes into the tensor.
void CheckAlignment(const Case& c, std::int64_t alignment, std::int64_t first, const char* token_field,
                    std::int64_t token_step, const char* what) {
  const Tensor& cache = c.outputs_before.at("kv_cache");
  if (cache.dim(0) > 0 && first % alignment != 0) {
    Fail(c, "kv_cache_base_offset", "{} lie at byte {} of page 0, which is no multiple of {}", what, first, alignment);
  }
  if (cache.dim(0) > 1 && cache.dim(1) % alignment != 0) {
    Fail(c, "kv_cache_before", "the page stride {} misaligns {} to {} bytes", cache.dim(1), what, alignment);
  }
  if (c.params.kv_cache_block_size > 1 && token_step % alignment != 0) {
    Fail(c, token_field, "{} misaligns {} to {} bytes", token_step, what, alignment);
  }
}

void CheckCache(const Case& c) {
  const Params& p = c.params;
  const spec::Layout& layout = LayoutOf(c);
  RequireEqual(c, "quant_block", p.quant_block, layout.quant_block);
  if (layout.rope_values > 0) RequireEqual(c, "rope_head_dim", p.rope_head_dim, layout.rope_values);
  CheckTokenBytes(c, layout);
  RequireAtLeast(c, "kv_cache_block_size", p.kv_cache_block_size, 1);
  RequireAtLeast(c, "kv_cache_base_offset", p.kv_cache_base_offset, 0);
  const std::int64_t page_stride = c.outputs_before.at("kv_cache").dim(1);
  const std::int64_t bytes_a_token = p.token_stride + (layout.scales_behind_page ? p.scale_dim : 0);
  const std::optional<std::int64_t> end = CheckedMulAdd(p.kv_cache_block_size, bytes_a_token, p.kv_cache_base_offset);
  if (!end || *end > page_stride) {
    Fail(c, "kv_cache_before", "the page stride is {}, {} tokens of {} bytes behind byte {} need more", page_stride,
         p.kv_cache_block_size, bytes_a_token, p.kv_cache_base_offset);
  }
  const spec::PagedCache cache = CacheOf(c);
  if (layout.rope_values > 0) {
    CheckAlignment(c, 2, cache.rope(0), "token_stride", p.token_stride, "bf16 values");
  }
  if (layout.scale_type == spec::ScaleType::kFp32Word) {
    const char* step_field = layout.scales_behind_page ? "scale_dim" : "token_stride";
    const std::int64_t step = layout.scales_behind_page ? p.scale_dim : p.token_stride;
    CheckAlignment(c, 4, cache.scales(0), step_field, step, "fp32 scales");
  }
}

void CheckStore(const Case& c) {
  const Params& p = c.params;
  RequireFinite(c, "rms_norm_eps", p.rms_norm_eps);
  if (!(static_cast<float>(p.rms_norm_eps) > 0.0F)) {
    Fail(c, "rms_norm_eps", "is {}, must be above 0 in fp32", p.rms_norm_eps);
  }
  RequireDim(c, c.inputs.at("rms_norm_weight"), "rms_norm_weight", 0, p.head_dim, "head_dim");
  CheckRope(c);
  CheckCache(c);
}

void CheckCompress(const Case& c) {
  const Params& p = c.params;
  const std::int64_t tokens = c.inputs.at("positions").dim(0);
  CheckNumActual(c, tokens);
  for (const char* name : {"slot_mapping", "kv_slot_mapping", "token_to_req_indices"}) {
    const auto found = c.inputs.find(name);
    if (found != c.inputs.end()) RequireDim(c, found->second, name, 0, tokens, "as positions");
  }
  CheckWindow(c);
  if (c.row().reads_state) CheckState(c);
  if (c.row().layout != nullptr) CheckStore(c);
  if (c.op == spec::Operation::kGatherSplit) {
    RequireAtLeast(c, "num_splits", p.num_splits, 1);
    if (p.head_dim % p.num_splits != 0) Fail(c, "num_splits", "{} does not divide head_dim", p.num_splits);
  }
  for (const TensorMap* tensors : {&c.inputs, &c.outputs_before}) {
    const auto scratch = tensors->find("scratch");
    if (scratch == tensors->end()) continue;
    const char* field = tensors == &c.inputs ? "scratch" : "scratch_before";
    RequireDim(c, scratch->second, field, 0, tokens, "as positions");
    if (scratch->second.dim(1) < p.head_dim) {
      Fail(c, field, "rows hold {} values, head_dim is {}", scratch->second.dim(1), p.head_dim);
    }
  }
  CheckCompressEntries(c);
}

void CheckIndexerQ(const Case& c) {
  const Params& p = c.params;
  const std::int64_t tokens = c.inputs.at("positions").dim(0);
  CheckNumActual(c, tokens);
  RequireFinite(c, "softmax_scale", p.softmax_scale);
  RequireFinite(c, "head_scale", p.head_scale);
  CheckRope(c);
  const Tensor& q = c.inputs.at("index_q");
  const std::int64_t heads = q.dim(1);
  RequireDim(c, q, "index_q", 0, tokens, "as positions");
  RequireDim(c, q, "index_q", 2, p.head_dim, "head_dim");
  const auto require_rows = [&](const Tensor& tensor, const char* field) {
    RequireDim(c, tensor, field, 0, tokens, "as positions");
    RequireDim(c, tensor, field, 1, heads, "heads of index_q");
  };
  require_rows(c.inputs.at("index_weights"), "index_weights");
  require_rows(c.outputs_before.at("weights_out"), "weights_out_before");
  const auto require_codes = [&](const char* name, const char* field, std::int64_t bytes) {
    const Tensor& codes = c.outputs_before.at(name);
    require_rows(codes, field);
    RequireDim(c, codes, field, 2, bytes, "bytes a head");
  };
  if (c.op == spec::Operation::kIndexerQFp8) {
    require_codes("q_fp8", "q_fp8_before", p.head_dim);
  } else {
    require_codes("q_packed", "q_packed_before", p.head_dim / 2);
    require_codes("q_scale", "q_scale_before", p.head_dim / 32);
  }
  CheckIndexerQEntries(c);
}

}  // namespace

void Check(const Case& c) {
  CheckUnusedParams(c);
  CheckNotes(c);
  CheckTensors(c, c.inputs, Role::kInput, "");
  CheckTensors(c, c.outputs_before, Role::kOutput, "_before");
  CheckOutputsAfter(c);
  RequireEqual(c, "head_dim", c.params.head_dim, c.row().head_dim);
  if (c.row().family == spec::Family::kCompress) {
    CheckCompress(c);
  } else {
    CheckIndexerQ(c);
  }
}

}  // namespace kvexact
