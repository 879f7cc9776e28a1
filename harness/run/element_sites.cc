// SPDX-License-Identifier: Apache-2.0
#include "harness/run/element_sites.h"

#include <fmt/format.h>

#include <cstring>

namespace kvexact {
namespace {

using Visit = std::function<void(const ElementSite&)>;

void VisitCacheToken(const spec::PagedCache& cache, const LiveToken& token, const Visit& visit) {
  const spec::Layout& layout = cache.layout;
  const bool nibbles = layout.code_type == spec::CodeType::kE2M1Nibble;
  ElementSite site{.buffer = "kv_cache", .token = token.index};
  for (int i = 0; i < layout.code_values; ++i) {
    site.element = i;
    site.byte_offset = cache.codes(token.kv_slot) + (nibbles ? i / 2 : i);
    site.shift = nibbles ? 4 * (i % 2) : -1;
    visit(site);
  }
  site.kind = ElementKind::kScale;
  site.shift = -1;
  std::int64_t offset = cache.scales(token.kv_slot);
  for (int i = 0; i < layout.scales() + layout.pad_scales; ++i) {
    site.element = i;
    site.bytes = i < layout.scales() ? layout.scale_bytes() : 1;
    site.byte_offset = offset;
    offset += site.bytes;
    visit(site);
  }
  site.kind = ElementKind::kBf16;
  site.bytes = 2;
  for (int i = 0; i < layout.rope_values; ++i) {
    site.element = i;
    site.byte_offset = cache.rope(token.kv_slot) + 2 * i;
    visit(site);
  }
}

void VisitScratchRow(std::int64_t token, std::int64_t columns, std::int64_t stride, const Visit& visit) {
  ElementSite site{.kind = ElementKind::kFp32, .buffer = "scratch", .bytes = 4, .token = token};
  for (std::int64_t i = 0; i < columns; ++i) {
    site.element = i;
    site.byte_offset = token * stride + 4 * i;
    visit(site);
  }
}

void VisitCompress(const Case& c, const Stages& stages, const Visit& visit) {
  const CompressBinding binding(c);
  const CompressInputs& in = binding.inputs();
  const bool scratch = c.op == spec::Operation::kGatherSplit;
  const std::int64_t stride = scratch ? 4 * c.outputs_before.at("scratch").dim(1) : 0;
  const spec::PagedCache cache = CacheOf(c);
  for (std::int64_t t = 0; t < in.num_actual; ++t) {
    LiveToken token;
    if (!stages.locate(in, t, token)) continue;
    if (scratch) {
      VisitScratchRow(t, in.head_dim, stride, visit);
    } else if (token.stored()) {
      VisitCacheToken(cache, token, visit);
    }
  }
}

// The elements of one buffer that belong to one head of one token.
void VisitHead(ElementSite site, const Case& c, std::int64_t cell, const Visit& visit) {
  const Tensor& tensor = c.outputs_before.find(site.buffer)->second;
  const bool nibbles = std::strcmp(site.buffer, "q_packed") == 0;
  const std::int64_t a_head = tensor.shape().size() == 3 ? tensor.dim(2) : 1;
  site.bytes = static_cast<int>(SizeOf(tensor.dtype()));
  for (std::int64_t i = 0; i < (nibbles ? 2 * a_head : a_head); ++i) {
    site.element = i;
    site.byte_offset = (cell * a_head + (nibbles ? i / 2 : i)) * site.bytes;
    site.shift = nibbles ? static_cast<int>(4 * (i % 2)) : -1;
    visit(site);
  }
}

void VisitIndexerQ(const Case& c, const Visit& visit) {
  const bool mxfp4 = c.op == spec::Operation::kIndexerQMxfp4;
  const std::int64_t heads = c.inputs.at("index_q").dim(1);
  for (std::int64_t token = 0; token < c.params.num_actual; ++token) {
    for (std::int64_t head = 0; head < heads; ++head) {
      const std::int64_t cell = token * heads + head;
      ElementSite site{.buffer = mxfp4 ? "q_packed" : "q_fp8", .token = token, .head = head};
      VisitHead(site, c, cell, visit);
      if (mxfp4) {
        site.kind = ElementKind::kScale;
        site.buffer = "q_scale";
        VisitHead(site, c, cell, visit);
      }
      site.kind = ElementKind::kWeight;
      site.buffer = "weights_out";
      VisitHead(site, c, cell, visit);
    }
  }
}

}  // namespace

std::uint32_t ElementSite::Load(const TensorMap& outputs) const {
  const std::uint8_t* at = outputs.find(buffer)->second.bytes() + byte_offset;
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, static_cast<std::size_t>(bytes));
  return shift < 0 ? bits : bits >> shift & 0xFU;
}

void ElementSite::Invert(TensorMap& outputs) const {
  std::uint8_t* at = outputs.find(buffer)->second.bytes() + byte_offset;
  for (int i = 0; i < bytes; ++i) at[i] ^= static_cast<std::uint8_t>(shift < 0 ? 0xFF : 0xF << shift);
}

std::string ElementSite::Text(std::uint32_t element_bits) const {
  return fmt::format("0x{:0{}X}", element_bits, shift < 0 ? 2 * bytes : 1);
}

Problem ProblemAt(const ElementSite& site, Problem::What what) {
  Problem problem;
  problem.what = what;
  problem.kind = site.kind;
  problem.buffer = site.buffer;
  problem.byte_offset = site.byte_offset;
  problem.token = site.token;
  problem.head = site.head;
  problem.element = site.element;
  return problem;
}

bool SameValue(const ElementSite& site, std::uint32_t a, std::uint32_t b) {
  if (a == b) return true;
  const bool floating =
      site.kind == ElementKind::kBf16 || site.kind == ElementKind::kFp32 || site.kind == ElementKind::kWeight;
  if (!floating) return false;
  const std::uint32_t infinity = site.bytes == 2 ? 0x7F80U : 0x7F800000U;
  const std::uint32_t magnitude = site.bytes == 2 ? 0x7FFFU : 0x7FFFFFFFU;
  return (a & magnitude) > infinity && (b & magnitude) > infinity;
}

void ForEachElement(const Case& c, const Stages& stages, const Visit& visit) {
  if (c.row().family == spec::Family::kIndexerQ) {
    VisitIndexerQ(c, visit);
  } else {
    VisitCompress(c, stages, visit);
  }
}

}  // namespace kvexact
