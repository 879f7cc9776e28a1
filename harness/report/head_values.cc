// SPDX-License-Identifier: Apache-2.0
#include "harness/report/head_values.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "harness/backend/backend.h"
#include "reference/formats/bf16.h"
#include "reference/formats/decode.h"
#include "reference/formats/e2m1.h"
#include "reference/operations/compress_token.h"
#include "reference/operations/indexer_q.h"

namespace kvexact {
namespace {

// Appends a value of the format at a scale, with its neighbourhood.
void Append(const spec::Format& format, std::uint32_t code, double scale, HeadValues& out) {
  const double value = Decode(format, code) * scale;
  const double smallest = std::ldexp(scale, 1 - format.bias - format.mantissa_bits);
  out.stored.push_back(value);
  out.smallest_step.push_back(smallest);
  out.step.push_back(std::max(std::ldexp(std::abs(value), -format.mantissa_bits), smallest));
}

std::vector<double> ColumnsOf(const Strict::Row& row) { return {row.value, row.value + row.columns}; }

double ScaleAt(const spec::Layout& layout, const std::uint8_t* bytes) {
  if (layout.scale_type == spec::ScaleType::kUe8m0Byte) return Decode(spec::kUe8m0, *bytes);
  float scale = 0;
  std::memcpy(&scale, bytes, sizeof scale);
  return scale;
}

void LoadCompressed(const spec::PagedCache& cache, std::int64_t slot, const std::uint8_t* bytes, HeadValues& out) {
  const spec::Layout& layout = cache.layout;
  const bool nibbles = layout.code_type == spec::CodeType::kE2M1Nibble;
  const std::uint8_t* codes = bytes + cache.codes(slot);
  for (int i = 0; i < layout.code_values; ++i) {
    const double scale = ScaleAt(layout, bytes + cache.scales(slot) + i / layout.quant_block * layout.scale_bytes());
    if (nibbles) {
      Append(spec::kE2M1, i % 2 == 0 ? FirstNibble(codes[i / 2]) : SecondNibble(codes[i / 2]), scale, out);
    } else {
      Append(spec::kE4M3Fn, codes[i], scale, out);
    }
  }
  for (int i = 0; i < layout.rope_values; ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bytes + cache.rope(slot) + 2 * i, sizeof bits);
    Append(spec::kBf16, bits, 1, out);
  }
}

HeadValues CompressedHead(const Evidence& evidence, const JudgeOptions& options, std::int64_t token) {
  const CompressBinding binding(evidence.c);
  const CompressInputs& in = binding.inputs();
  HeadValues out;
  LiveToken live;
  if (!options.stages->locate(in, token, live) || !live.stored()) return out;
  LoadCompressed(CacheOf(evidence.c), live.kv_slot, evidence.after.find("kv_cache")->second.bytes(), out);
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
  if (in.codes == QCodes::kE2M1) {
    const std::uint8_t* codes = evidence.after.find("q_packed")->second.bytes() + cell * in.head_dim / 2;
    const std::uint8_t* scales = evidence.after.find("q_scale")->second.bytes() + cell * (in.head_dim / kMxfp4Block);
    for (std::int64_t i = 0; i < in.head_dim; ++i) {
      const std::uint8_t code = i % 2 == 0 ? FirstNibble(codes[i / 2]) : SecondNibble(codes[i / 2]);
      Append(spec::kE2M1, code, Decode(spec::kUe8m0, scales[i / kMxfp4Block]), out);
    }
    return out;
  }
  out.scale_stored = false;
  StoredQHead expected;
  RoundQHead(*options.stages, *options.policy, in, token, head, row, expected);
  const spec::Format& format = in.codes == QCodes::kE4M3Fnuz ? spec::kE4M3Fnuz : spec::kE4M3Fn;
  const std::uint8_t* codes = evidence.after.find("q_fp8")->second.bytes() + cell * in.head_dim;
  for (std::int64_t i = 0; i < in.head_dim; ++i) Append(format, codes[i], expected.scale, out);
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
  TensorMap strict = evidence.before;
  MakeReferenceBackend()->Run(evidence.c, strict);
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
