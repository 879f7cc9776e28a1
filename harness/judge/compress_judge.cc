// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/compress_judge.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "harness/judge/block.h"
#include "harness/judge/block_choice.h"
#include "harness/judge/element.h"
#include "reference/formats/bf16.h"
#include "reference/formats/decode.h"
#include "reference/formats/e2m1.h"
#include "reference/operations/compress_token.h"

namespace kvexact {
namespace {

template <class T>
T Load(const std::uint8_t* bytes, std::int64_t offset) {
  T value;
  std::memcpy(&value, bytes + offset, sizeof(T));
  return value;
}

class CompressJudge {
 public:
  CompressJudge(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after,
                CaseVerdict& verdict)
      : binding_(c),
        in_(binding_.inputs()),
        options_(options),
        enclosure_(*options.budget),
        cache_(CacheOf(c)),
        buffer_(c.op == spec::Operation::kGatherSplit ? "scratch" : "kv_cache"),
        row_stride_(RowBytes(before.find(buffer_)->second)),
        before_(before.find(buffer_)->second.bytes()),
        after_(after.find(buffer_)->second.bytes()),
        verdict_(verdict) {}

  void Run() {
    const bool scratch = in_.op == spec::Operation::kGatherSplit;
    for (std::int64_t t = 0; t < in_.num_actual; ++t) {
      if (!options_.stages->locate(in_, t, token_) || (!scratch && !token_.stored())) continue;
      ++verdict_.tokens;
      EvaluateToken(*options_.stages, strict_, in_, token_, strict_work_);
      EvaluateToken(*options_.stages, enclosure_, in_, token_, enclosed_work_);
      CountRow(verdict_, [&] { scratch ? JudgeScratchRow() : JudgeCacheToken(); });
    }
  }

 private:
  static std::int64_t RowBytes(const Tensor& tensor) { return tensor.dim(1) * SizeOf(tensor.dtype()); }

  bool Open() const {
    if (options_.policy->nonfinite != NonFiniteRule::kUnjudged) return false;
    const Enclosure::Row& row = enclosed_work_.row;
    for (int i = 0; i < row.columns; ++i) {
      if (row.classes[i] != kFinite) return true;
    }
    return false;
  }

  void Place(Problem& problem, std::int64_t offset, std::int64_t element) const {
    problem.buffer = buffer_;
    problem.byte_offset = offset;
    problem.token = token_.index;
    problem.element = element;
  }

  bool Unchanged(std::int64_t offset, std::int64_t size) const {
    return std::memcmp(before_ + offset, after_ + offset, static_cast<std::size_t>(size)) == 0;
  }

  void JudgeScratchRow() {
    const std::int64_t base = token_.index * row_stride_;
    if (Open()) {
      verdict_.open.push_back({token_.index, -1});
      verdict_.tally(ElementKind::kFp32).unjudged += in_.head_dim;
      return;
    }
    for (int i = 0; i < in_.head_dim; ++i) {
      const std::int64_t offset = base + 4 * i;
      const auto observed = Load<std::uint32_t>(after_, offset);
      const float strict = strict_work_.row.value[i];
      const auto expected = strict != strict ? spec::kFp32.canonical_nan : std::bit_cast<std::uint32_t>(strict);
      const Fp32Interval set = Enclosure::ToFp32(Enclosure::At(enclosed_work_.row, i));
      const float value = std::bit_cast<float>(observed);
      const bool nan = value != value;
      const std::int64_t lo = Fp32Key(std::bit_cast<std::uint32_t>(set.lo));
      const std::int64_t hi = Fp32Key(std::bit_cast<std::uint32_t>(set.hi));
      const std::int64_t key = Fp32Key(observed);
      const bool zero_set = set.lo <= 0 && set.hi >= 0;
      const bool infinite = value - value != 0 && !nan;
      const bool member =
          (nan && (set.classes & kNan) != 0) ||
          ((set.classes & kFinite) != 0 && !nan && ((key >= lo && key <= hi) || (value == 0 && zero_set))) ||
          (infinite && (set.classes & (value > 0 ? kPosInf : kNegInf)) != 0);
      if ((set.classes & kFinite) != 0) verdict_.tally(ElementKind::kFp32).width_ulp += static_cast<double>(hi - lo);
      const bool exact = observed == expected || (nan && strict != strict);
      const int members = lo == hi && set.classes == kFinite ? 1 : set.classes == kNan ? 1 : 2;
      CountElement(verdict_, ElementKind::kFp32, exact, member, Unchanged(offset, 4), members, [&](Problem& problem) {
        Place(problem, offset, i);
        problem.observed = fmt::format("0x{:08X} ({:.9g})", observed, value);
        problem.expected = fmt::format("0x{:08X} ({:.9g})", expected, strict);
        problem.allowed = set.classes == kNan ? "NaN" : fmt::format("[{:.9g}, {:.9g}]", set.lo, set.hi);
      });
    }
  }

  void JudgeCacheToken() {
    const spec::Layout& layout = cache_.layout;
    if (Open()) {
      verdict_.open.push_back({token_.index, -1});
      verdict_.tally(ElementKind::kCode).unjudged += layout.code_values;
      verdict_.tally(ElementKind::kScale).unjudged += layout.scales() + layout.pad_scales;
      verdict_.tally(ElementKind::kBf16).unjudged += layout.rope_values;
      return;
    }
    RoundToken(*options_.stages, *options_.policy, layout, strict_, strict_work_, expected_);
    CandidatesOf(enclosure_, enclosed_work_.row, 0, layout.code_values, options_.policy->bf16_before_quantise,
                 candidates_);
    const QuantiseRule rule = CompressRule(layout, *options_.policy);
    for (int b = 0; b < layout.scales(); ++b) JudgeBlock(rule, b);
    JudgePad();
    JudgeRope();
  }

  std::uint8_t ObservedCode(int i) const {
    const std::int64_t base = cache_.codes(token_.kv_slot);
    if (cache_.layout.code_type == spec::CodeType::kE4M3Byte) return after_[base + i];
    const std::uint8_t packed = after_[base + i / 2];
    return i % 2 == 0 ? FirstNibble(packed) : SecondNibble(packed);
  }

  bool CodeUnchanged(int i) const {
    const std::int64_t base = cache_.codes(token_.kv_slot);
    if (cache_.layout.code_type == spec::CodeType::kE4M3Byte) return before_[base + i] == after_[base + i];
    const int shift = i % 2 == 0 ? 0 : 4;
    return ((before_[base + i / 2] ^ after_[base + i / 2]) >> shift & 0xF) == 0;
  }

  void JudgeBlock(const QuantiseRule& rule, int b) {
    const spec::Layout& layout = cache_.layout;
    const int first = b * layout.quant_block;
    const int count = layout.quant_block;
    const Block block(*options_.stages, rule, SmallestFactorOf(*options_.budget), candidates_, first, count);
    std::uint8_t observed[kMaxHeadDim];
    for (int i = 0; i < count; ++i) observed[i] = ObservedCode(first + i);

    const int size = layout.scale_bytes();
    const std::int64_t scale_offset = cache_.scales(token_.kv_slot) + b * size;
    std::uint32_t stored = 0;
    std::memcpy(&stored, after_ + scale_offset, static_cast<std::size_t>(size));
    const BlockChoice choice =
        ChooseExponent(block, observed, [&](int e) { return StoredScale(layout.scale_type, e) == stored; });

    const std::uint32_t strict_scale = expected_.scales[b];
    CountElement(verdict_, ElementKind::kScale, stored == strict_scale, choice.stored && choice.reached,
                 Unchanged(scale_offset, size), block.exponents().members(), [&](Problem& problem) {
                   Place(problem, scale_offset, b);
                   problem.observed = ScaleText(layout.scale_type, stored);
                   problem.expected = ScaleText(layout.scale_type, strict_scale);
                   problem.allowed =
                       choice.stored ? "this scale only with a code that needs it" : block.exponents().Text();
                 });
    JudgeCodes(rule, block, choice, first, observed);
  }

  void JudgeCodes(const QuantiseRule& rule, const Block& block, const BlockChoice& choice, int first,
                  const std::uint8_t* observed) {
    const spec::Format& format = *rule.format;
    for (int i = 0; i < block.count(); ++i) {
      const std::uint8_t expected = expected_.codes[first + i];
      const std::int64_t offset = cache_.codes(token_.kv_slot) +
                                  (cache_.layout.code_type == spec::CodeType::kE4M3Byte ? first + i : (first + i) / 2);
      if (choice.plain[i]) {
        if (observed[i] == choice.lo[i]) {
          CountPlain(verdict_, ElementKind::kCode, observed[i] == expected);
          continue;
        }
      }
      const CodeSet set = block.codes(i, choice.exponent);
      CountElement(verdict_, ElementKind::kCode, observed[i] == expected, set.contains(format, observed[i]),
                   CodeUnchanged(first + i), set.members(format), [&](Problem& problem) {
                     Place(problem, offset, first + i);
                     problem.observed = fmt::format("0x{:02X} ({:g})", observed[i], Decode(format, observed[i]));
                     problem.expected = fmt::format("0x{:02X} ({:g})", expected, Decode(format, expected));
                     problem.allowed = set.text(format);
                   });
    }
  }

  void JudgePad() {
    const spec::Layout& layout = cache_.layout;
    for (int i = 0; i < layout.pad_scales; ++i) {
      const std::int64_t offset = cache_.scales(token_.kv_slot) + layout.scales() * layout.scale_bytes() + i;
      const std::uint8_t observed = after_[offset];
      CountElement(verdict_, ElementKind::kScale, observed == 0, observed == 0, Unchanged(offset, 1), 1,
                   [&](Problem& problem) {
                     Place(problem, offset, layout.scales() + i);
                     problem.observed = fmt::format("0x{:02X}", observed);
                     problem.expected = "0x00";
                     problem.allowed = "0x00 (pad byte)";
                   });
    }
  }

  void JudgeRope() {
    const spec::Layout& layout = cache_.layout;
    if (layout.rope_values == 0) return;
    Candidates rotated;
    CandidatesOf(enclosure_, enclosed_work_.row, layout.code_values, layout.rope_values, true, rotated);
    for (int i = 0; i < layout.rope_values; ++i) {
      const std::int64_t offset = cache_.rope(token_.kv_slot) + 2 * i;
      const auto observed = Load<std::uint16_t>(after_, offset);
      const Bf16Set set(rotated, i);
      CountElement(verdict_, ElementKind::kBf16, observed == expected_.rope[i], set.contains(observed),
                   Unchanged(offset, 2), set.members(), [&](Problem& problem) {
                     Place(problem, offset, i);
                     problem.observed = fmt::format("0x{:04X} ({:g})", observed, WidenBf16(observed));
                     problem.expected = fmt::format("0x{:04X} ({:g})", expected_.rope[i], WidenBf16(expected_.rope[i]));
                     problem.allowed = set.text();
                   });
    }
  }

  const CompressBinding binding_;
  const CompressInputs& in_;
  const JudgeOptions& options_;
  const Strict strict_;
  const Enclosure enclosure_;
  const spec::PagedCache cache_;
  const std::string buffer_;
  const std::int64_t row_stride_;  // bytes of a scratch row, padding included
  const std::uint8_t* before_;
  const std::uint8_t* after_;
  CaseVerdict& verdict_;

  LiveToken token_;
  TokenWorkspace<Strict> strict_work_;
  TokenWorkspace<Enclosure> enclosed_work_;
  StoredToken expected_;
  Candidates candidates_;
};

}  // namespace

void JudgeCompress(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after,
                   CaseVerdict& verdict) {
  CompressJudge(c, options, before, after, verdict).Run();
}

}  // namespace kvexact
