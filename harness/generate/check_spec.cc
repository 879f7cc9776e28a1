// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string_view>

#include "harness/case/case.h"
#include "harness/generate/shape.h"
#include "harness/generate/spec_fields.h"

namespace kvexact {
namespace {

using generate::Special;

constexpr double kMaxElements = 0x1p28;  // of one tensor; sizes are compared in double, which cannot overflow
constexpr std::int64_t kMaxPosition = std::int64_t{1} << 40;
constexpr std::int64_t kMaxPad = 1 << 16;
constexpr std::int64_t kMaxTokens = 1 << 20;

template <class... Args>
[[noreturn]] void Fail(const CaseSpec& s, const char* key, fmt::format_string<Args...> what, Args&&... args) {
  throw InputError(ToText(s), key, fmt::format(what, std::forward<Args>(args)...));
}

void Range(const CaseSpec& s, const char* key, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) Fail(s, key, "is {}, must be {} to {}", value, low, high);
}

// Settings that the operation does not have keep their defaults.
void CheckRelevance(const CaseSpec& s) {
  const CaseSpec defaults = DefaultSpec(s.config.op);
  const auto check = [&](const char* key, schema::Bits operations, const auto& field, const auto& usual) {
    const bool relevant = (operations & schema::Bit(s.config.op)) != 0;
    if (!relevant && !(field == usual)) Fail(s, key, "is no setting of {}", spec::row(s.config.op).name);
  };
  generate::ForEachSetting(check, s, defaults);
}

void CheckConfiguration(const CaseSpec& s) {
  const Configuration& c = s.config;
  const spec::OperationRow& row = spec::row(c.op);
  Range(s, "ratio", c.ratio, 1, kMaxWindowRows / (c.overlap ? 2 : 1));
  Range(s, "block", c.block, 1, 1 << 12);
  Range(s, "width_pad", c.width_pad, 0, kMaxPad);
  Range(s, "row_pad", c.row_pad, 0, kMaxPad);
  Range(s, "block_pad", c.block_pad, 0, kMaxPad);
  Range(s, "page", c.page, 1, 1 << 12);
  Range(s, "token_pad", c.token_pad, 0, kMaxPad);
  Range(s, "scale_pad", c.scale_pad, 0, kMaxPad);
  Range(s, "base", c.base, 0, kMaxPad);
  Range(s, "page_multiple", c.page_multiple, 1, kMaxPad);
  Range(s, "rope", c.rope, 2, row.head_dim);
  if (c.rope % 2 != 0) Fail(s, "rope", "is {}, must be even", c.rope);
  Range(s, "angle_pad", c.angle_pad, 0, kMaxPad);
  Range(s, "scratch_pad", c.scratch_pad, 0, kMaxPad);
  Range(s, "splits", c.splits, 1, row.head_dim);
  if (row.head_dim % c.splits != 0) Fail(s, "splits", "{} does not divide {}", c.splits, row.head_dim);
  Range(s, "heads", c.heads, 0, 1 << 12);
}

void CheckLayout(const CaseSpec& s) {
  const Configuration& c = s.config;
  if (spec::row(c.op).layout == nullptr) return;
  if (!c.layout.empty()) {
    const spec::Layout* layout = schema::LayoutNamed(c.layout);
    if (layout == nullptr || !schema::Fits(*layout, c.op)) {
      Fail(s, "layout", "\"{}\" is no layout for {}", c.layout, spec::row(c.op).name);
    }
  }
  const generate::Shape shape = generate::ShapeOf(c);
  if (shape.layout.rope_values > 0 && c.rope != shape.layout.rope_values) {
    Fail(s, "rope", "is {}, the layout holds {}", c.rope, shape.layout.rope_values);
  }
  if (std::string_view(shape.layout.name) == spec::kIndexerMxfp4Layout.name && (c.token_pad != 0 || c.scale_pad != 0)) {
    Fail(s, c.token_pad != 0 ? "token_pad" : "scale_pad", "must be 0 for {}", shape.layout.name);
  }
  const std::int64_t alignment = shape.layout.scale_type == spec::ScaleType::kFp32Word ? 4
                                 : shape.layout.rope_values > 0                        ? 2
                                                                                       : 1;
  const std::pair<const char*, std::int64_t> offsets[] = {
      {"token_pad", c.token_pad}, {"scale_pad", c.scale_pad}, {"base", c.base}, {"page_multiple", c.page_multiple}};
  for (const auto& [key, bytes] : offsets) {
    if (bytes % alignment != 0) Fail(s, key, "is {}, must be a multiple of {}", bytes, alignment);
  }
}

void CheckRequests(const CaseSpec& s) {
  std::int64_t tokens = 0;
  for (const RequestRun& run : s.requests) {
    Range(s, "requests", run.start, 0, kMaxPosition);
    Range(s, "requests", run.length, 1, kMaxTokens);
    Range(s, "requests", run.count, 1, kMaxTokens);
    tokens += run.length * run.count;
    Range(s, "requests", tokens, 0, kMaxTokens);
  }
}

void CheckData(const CaseSpec& s) {
  Range(s, "skip_slots", s.skip_slots, 0, 100);
  Range(s, "skip_kv_slots", s.skip_kv_slots, 0, 100);
  Range(s, "tail", s.tail, 0, kMaxTokens);
  Range(s, "spare_blocks", s.spare_blocks, 0, kMaxPad);
  Range(s, "spare_columns", s.spare_columns, 0, kMaxPad);
  Range(s, "spare_pages", s.spare_pages, 0, kMaxPad);
  Range(s, "spare_angles", s.spare_angles, 0, kMaxPad);
  const bool scores = s.special >= Special::kScoreNan;
  if (scores && !spec::row(s.config.op).reads_state) Fail(s, "special", "needs an operation that reads scores");
  for (const auto& [key, value] : {std::pair("softmax_scale", s.softmax_scale), {"head_scale", s.head_scale}}) {
    if (!(std::abs(value) <= FLT_MAX)) Fail(s, key, "is {}, must be finite in fp32", value);
  }
  if (!(s.eps >= FLT_MIN && s.eps <= FLT_MAX)) Fail(s, "eps", "is {}, must be a normal fp32 above 0", s.eps);
}

void CheckElements(const CaseSpec& s, const char* key, double elements, const char* tensor) {
  if (elements > kMaxElements) Fail(s, key, "makes {} larger than 2^28 elements", tensor);
}

void CheckSizes(const CaseSpec& s) {
  const Configuration& c = s.config;
  const spec::OperationRow& row = spec::row(c.op);
  const generate::Shape shape = generate::ShapeOf(c);
  std::int64_t end = 0;
  double requests = 0;
  double blocks = static_cast<double>(s.spare_blocks);
  for (const RequestRun& run : s.requests) {
    end = std::max(end, run.start + run.length);
    requests += static_cast<double>(run.count);
    // Blocks belong to windows that end within the run.
    const bool ends_window = (run.start + run.length) / c.ratio > run.start / c.ratio;
    const std::int64_t blocks_each = ends_window ? (run.length + shape.window_rows) / c.block + 2 : 0;
    blocks += static_cast<double>(blocks_each) * static_cast<double>(run.count);
  }
  const auto tokens = static_cast<double>(TokensOf(s) + s.tail);
  const auto angles = static_cast<double>(end + s.spare_angles + 1);
  if (row.reads_state) {
    CheckElements(s, "requests", blocks * static_cast<double>(shape.block_stride), "state_cache");
    const std::int64_t columns = end / c.block + 1 + s.spare_columns;
    CheckElements(s, "requests", requests * static_cast<double>(columns), "block_table");
  }
  if (row.layout != nullptr) {
    const double pages = tokens / static_cast<double>(c.page) + 1 + static_cast<double>(s.spare_pages);
    CheckElements(s, "requests", pages * static_cast<double>(shape.page_stride), "kv_cache");
  }
  if (row.layout != nullptr || row.family == spec::Family::kIndexerQ) {
    CheckElements(s, "requests", angles * static_cast<double>(shape.angle_columns), "cos_sin_cache");
  }
  const double a_token = row.family == spec::Family::kIndexerQ ? static_cast<double>(c.heads * shape.head_dim)
                                                               : static_cast<double>(shape.scratch_columns);
  CheckElements(s, "requests", tokens * a_token, row.family == spec::Family::kIndexerQ ? "index_q" : "scratch");
}

}  // namespace

void Check(const CaseSpec& spec) {
  CheckRelevance(spec);
  CheckConfiguration(spec);
  CheckLayout(spec);
  CheckRequests(spec);
  CheckData(spec);
  CheckSizes(spec);
}

}  // namespace kvexact
