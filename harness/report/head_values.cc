// SPDX-License-Identifier: Apache-2.0
#include "harness/report/head_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/backend/backend.h"
#include "reference/formats/bf16.h"
#include "reference/formats/decode.h"
#include "reference/formats/e2m1.h"
#include "reference/operations/compress_token.h"
#include "reference/operations/indexer_q.h"

namespace kvexact {
namespace {

// Values that are quantised were rounded to bf16 first: half a step of that, twice for values that rotate.
constexpr double kRoundedBefore = 0x1p-8;
constexpr double kFp32Error = 0x1p-14;

// Appends a value of the format at a scale, and what rounds to it.
void Append(const spec::Format& format, std::uint32_t code, double scale, double slack, HeadValues& out) {
  const std::uint32_t magnitude = code & MagnitudeMask(format);
  const double value = std::abs(Decode(format, code));
  out.stored.push_back(Decode(format, code) * scale);
  const double below = magnitude == 0 ? -1 : (Decode(format, magnitude - 1) + value) / 2;
  const double above = magnitude >= MaxFiniteCode(format) ? std::numeric_limits<double>::infinity()
                                                          : (Decode(format, magnitude + 1) + value) / 2;
  out.low.push_back(below * scale * (1 - slack));
  out.high.push_back(above * scale * (1 + slack));
}

void AppendCode(const spec::Format& format, std::uint32_t code, std::uint32_t expected, double scale, HeadValues& out) {
  Append(format, code, scale, kRoundedBefore, out);
  out.codes.push_back(code);
  out.expected_codes.push_back(expected);
}

TensorMap StrictOutputs(const Evidence& evidence) {
  TensorMap outputs = evidence.before;
  MakeReferenceBackend()->Run(evidence.c, outputs);
  return outputs;
}

std::vector<double> ColumnsOf(const Strict::Row& row) { return {row.value, row.value + row.columns}; }

double ScaleAt(const spec::Layout& layout, const std::uint8_t* bytes) {
  if (layout.scale_type == spec::ScaleType::kUe8m0Byte) return Decode(spec::kUe8m0, *bytes);
  float scale = 0;
  std::memcpy(&scale, bytes, sizeof scale);
  return scale;
}

void LoadCompressed(const spec::PagedCache& cache, std::int64_t slot, const std::uint8_t* bytes,
                    const std::uint8_t* right, HeadValues& out) {
  const spec::Layout& layout = cache.layout;
  const bool nibbles = layout.code_type == spec::CodeType::kE2M1Nibble;
  const auto code = [&](const std::uint8_t* of, int i) {
    const std::uint8_t* codes = of + cache.codes(slot);
    if (!nibbles) return codes[i];
    return i % 2 == 0 ? FirstNibble(codes[i / 2]) : SecondNibble(codes[i / 2]);
  };
  for (int i = 0; i < layout.code_values; ++i) {
    const std::int64_t at = cache.scales(slot) + i / layout.quant_block * layout.scale_bytes();
    if (i % layout.quant_block == 0) {
      const auto begin = static_cast<std::size_t>(i);
      out.blocks.push_back({begin, begin + static_cast<std::size_t>(layout.quant_block), ScaleAt(layout, bytes + at),
                            ScaleAt(layout, right + at)});
    }
    AppendCode(nibbles ? spec::kE2M1 : spec::kE4M3Fn, code(bytes, i), code(right, i), out.blocks.back().scale, out);
  }
  for (int i = 0; i < layout.rope_values; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes + cache.rope(slot) + 2 * i, sizeof bits);
    Append(spec::kBf16, bits, 1, kFp32Error, out);
  }
}

HeadValues CompressedHead(const Evidence& evidence, const JudgeOptions& options, std::int64_t token) {
  const CompressBinding binding(evidence.c);
  const CompressInputs& in = binding.inputs();
  HeadValues out;
  LiveToken live;
  if (!options.stages->locate(in, token, live) || !live.stored()) return out;
  const TensorMap right = StrictOutputs(evidence);
  LoadCompressed(CacheOf(evidence.c), live.kv_slot, evidence.after.find("kv_cache")->second.bytes(),
                 right.find("kv_cache")->second.bytes(), out);
  out.first_rotated = static_cast<std::size_t>(in.head_dim - in.rope_head_dim);
  const Strict strict;
  TokenWorkspace<Strict> work;
  if (in.op == spec::Operation::kFinalize) {
    strict.Assign({in.scratch.row(token).data(), static_cast<std::size_t>(in.head_dim)}, work.row);
  } else {
    CompressColumns(*options.stages, strict, in, live, work);
  }
  out.compressed = ColumnsOf(work.row);
  NormaliseAndRotate(*options.stages, strict, in, live, work);
  out.rotated = ColumnsOf(work.row);
  return out;
}

HeadValues QHead(const Evidence& evidence, const JudgeOptions& options, std::int64_t token, std::int64_t head) {
  const IndexerQBinding binding(evidence.c);
  const IndexerQInputs& in = binding.inputs();
  const std::int64_t cell = token * in.heads + head;
  HeadValues out;
  out.quantised_alone = true;
  out.first_rotated = static_cast<std::size_t>(in.head_dim - in.rope_head_dim);
  for (std::int64_t i = 0; i < in.head_dim; ++i) out.compressed.push_back(WidenBf16(in.q(cell, i)));
  const Strict strict;
  Strict::Row row;
  EvaluateQHead(*options.stages, strict, in, token, head, row);
  out.rotated = ColumnsOf(row);
  const TensorMap right = StrictOutputs(evidence);
  if (in.codes == QCodes::kE2M1) {
    const auto bytes = [&](const TensorMap& of, const char* name, std::int64_t row_bytes) {
      return of.find(name)->second.bytes() + cell * row_bytes;
    };
    const std::uint8_t* codes = bytes(evidence.after, "q_packed", in.head_dim / 2);
    const std::uint8_t* expected = bytes(right, "q_packed", in.head_dim / 2);
    const std::uint8_t* scales = bytes(evidence.after, "q_scale", in.head_dim / kMxfp4Block);
    const std::uint8_t* right_scales = bytes(right, "q_scale", in.head_dim / kMxfp4Block);
    const auto nibble = [](const std::uint8_t* of, std::int64_t i) {
      return i % 2 == 0 ? FirstNibble(of[i / 2]) : SecondNibble(of[i / 2]);
    };
    for (std::int64_t i = 0; i < in.head_dim; ++i) {
      const std::int64_t b = i / kMxfp4Block;
      if (i % kMxfp4Block == 0) {
        const auto begin = static_cast<std::size_t>(i);
        out.blocks.push_back(
            {begin, begin + kMxfp4Block, Decode(spec::kUe8m0, scales[b]), Decode(spec::kUe8m0, right_scales[b])});
      }
      AppendCode(spec::kE2M1, nibble(codes, i), nibble(expected, i), out.blocks.back().scale, out);
    }
    return out;
  }
  out.scale_stored = false;
  StoredQHead stored;
  RoundQHead(*options.stages, *options.policy, in, token, head, row, stored);
  const spec::Format& format = in.codes == QCodes::kE4M3Fnuz ? spec::kE4M3Fnuz : spec::kE4M3Fn;
  const std::uint8_t* codes = evidence.after.find("q_fp8")->second.bytes() + cell * in.head_dim;
  const std::uint8_t* expected = right.find("q_fp8")->second.bytes() + cell * in.head_dim;
  out.blocks.push_back({0, static_cast<std::size_t>(in.head_dim), stored.scale, stored.scale});
  for (std::int64_t i = 0; i < in.head_dim; ++i) AppendCode(format, codes[i], expected[i], stored.scale, out);
  return out;
}

}  // namespace

HeadValues StoredHead(const Evidence& evidence, const JudgeOptions& options, std::int64_t token, std::int64_t head) {
  return evidence.c.row().family == spec::Family::kIndexerQ ? QHead(evidence, options, token, head)
                                                            : CompressedHead(evidence, options, token);
}

std::int64_t OtherOwner(const Evidence& evidence, const JudgeOptions& options, std::int64_t token) {
  if (evidence.c.row().family == spec::Family::kIndexerQ) return -1;
  const CompressBinding binding(evidence.c);
  const CompressInputs& in = binding.inputs();
  const spec::PagedCache cache = CacheOf(evidence.c);
  const TensorMap strict = StrictOutputs(evidence);
  const std::uint8_t* right = strict.find("kv_cache")->second.bytes();
  const std::uint8_t* stored = evidence.after.find("kv_cache")->second.bytes();
  LiveToken here;
  if (!options.stages->locate(in, token, here) || !here.stored()) return -1;
  const auto size = static_cast<std::size_t>(cache.layout.code_bytes());
  const std::uint8_t* codes = stored + cache.codes(here.kv_slot);
  for (std::int64_t t = 0; t < in.num_actual; ++t) {
    LiveToken other;
    if (t == token || !options.stages->locate(in, t, other) || !other.stored()) continue;
    const std::uint8_t* others = right + cache.codes(other.kv_slot);
    const bool distinct = std::memcmp(others, right + cache.codes(here.kv_slot), size) != 0;
    if (distinct && std::memcmp(codes, others, size) == 0) return t;
  }
  return -1;
}

}  // namespace kvexact
