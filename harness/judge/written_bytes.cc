// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/written_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kvexact {
namespace {

void AddTokenOfCache(const spec::PagedCache& cache, std::int64_t slot, std::vector<ByteRange>& ranges) {
  const spec::Layout& layout = cache.layout;
  const std::int64_t codes = cache.codes(slot);
  ranges.push_back({codes, codes + layout.code_bytes()});
  const std::int64_t scales = cache.scales(slot);
  ranges.push_back({scales, scales + layout.scales() * layout.scale_bytes() + layout.pad_scales});
  if (layout.rope_values > 0) {
    const std::int64_t rope = cache.rope(slot);
    ranges.push_back({rope, rope + 2 * layout.rope_values});
  }
}

void Normalise(std::vector<ByteRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::vector<ByteRange> merged;
  for (const ByteRange& range : ranges) {
    if (!merged.empty() && range.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, range.end);
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

void CompareOutside(const std::string& buffer, std::int64_t begin, std::int64_t end, const std::uint8_t* before,
                    const std::uint8_t* after, CaseVerdict& verdict) {
  if (end <= begin || std::memcmp(before + begin, after + begin, static_cast<std::size_t>(end - begin)) == 0) return;
  bool in_run = false;
  for (std::int64_t i = begin; i < end; ++i) {
    const bool differs = before[i] != after[i];
    if (differs) ++verdict.touched;
    if (differs && !in_run) ++verdict.touched_ranges;
    if (differs && !in_run && verdict.problems.size() < verdict.max_problems) {
      Problem problem;
      problem.what = Problem::What::kTouched;
      problem.buffer = buffer;
      problem.byte_offset = i;
      problem.observed = fmt::format("0x{:02X}", after[i]);
      problem.expected = fmt::format("0x{:02X}", before[i]);
      problem.allowed = "unchanged";
      verdict.problems.push_back(std::move(problem));
    }
    in_run = differs;
  }
}

}  // namespace

ByteRanges WrittenBytes(const Case& c, const Stages& stages) {
  ByteRanges written;
  for (const auto& [name, tensor] : c.outputs_before) written[name];
  if (c.row().family == spec::Family::kIndexerQ) {
    for (const auto& [name, tensor] : c.outputs_before) {
      const std::int64_t row = tensor.dim(0) > 0 ? tensor.size_bytes() / tensor.dim(0) : 0;
      if (c.params.num_actual > 0) written[name].push_back({0, c.params.num_actual * row});
    }
    return written;
  }
  const CompressBinding binding(c);
  const CompressInputs& in = binding.inputs();
  const bool scratch = c.op == spec::Operation::kGatherSplit;
  std::vector<ByteRange>& ranges = written[scratch ? "scratch" : "kv_cache"];
  const spec::PagedCache cache = CacheOf(c);
  const std::int64_t row_bytes = in.head_dim * 4;
  const std::int64_t stride = scratch ? c.outputs_before.at("scratch").dim(1) * 4 : 0;
  for (std::int64_t t = 0; t < in.num_actual; ++t) {
    LiveToken token;
    if (!stages.locate(in, t, token)) continue;
    if (scratch) {
      ranges.push_back({t * stride, t * stride + row_bytes});
    } else if (token.stored()) {
      AddTokenOfCache(cache, token.kv_slot, ranges);
    }
  }
  Normalise(ranges);
  return written;
}

void CheckUntouched(const ByteRanges& written, const TensorMap& before, const TensorMap& after, CaseVerdict& verdict) {
  for (const auto& [name, ranges] : written) {
    const Tensor& old_bytes = before.find(name)->second;
    const Tensor& new_bytes = after.find(name)->second;
    std::int64_t from = 0;
    for (const ByteRange& range : ranges) {
      CompareOutside(name, from, range.begin, old_bytes.bytes(), new_bytes.bytes(), verdict);
      from = range.end;
    }
    CompareOutside(name, from, old_bytes.size_bytes(), old_bytes.bytes(), new_bytes.bytes(), verdict);
  }
}

}  // namespace kvexact
