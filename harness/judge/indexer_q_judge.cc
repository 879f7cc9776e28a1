// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/indexer_q_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "harness/judge/block.h"
#include "harness/judge/block_choice.h"
#include "harness/judge/element.h"
#include "harness/judge/folded_weight.h"
#include "reference/formats/bf16.h"
#include "reference/formats/decode.h"
#include "reference/formats/e2m1.h"
#include "reference/operations/indexer_q.h"

namespace kvexact {
namespace {

class IndexerQJudge {
 public:
  IndexerQJudge(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after,
                CaseVerdict& verdict)
      : binding_(c),
        in_(binding_.inputs()),
        options_(options),
        rule_(IndexerQRule(in_.codes, *options.policy)),
        enclosure_(*options.budget),
        mxfp4_(in_.codes == QCodes::kE2M1),
        code_buffer_(mxfp4_ ? "q_packed" : "q_fp8"),
        before_(before),
        after_(after),
        verdict_(verdict) {}

  void Run() {
    for (token_ = 0; token_ < in_.num_actual; ++token_) {
      ++verdict_.tokens;
      for (head_ = 0; head_ < in_.heads; ++head_) CountRow(verdict_, [&] { JudgeHead(); });
    }
  }

 private:
  const std::uint8_t* Before(const char* buffer) const { return before_.find(buffer)->second.bytes(); }
  const std::uint8_t* After(const char* buffer) const { return after_.find(buffer)->second.bytes(); }
  std::int64_t cell() const { return token_ * in_.heads + head_; }

  bool Unchanged(const char* buffer, std::int64_t offset, std::int64_t size) const {
    return std::memcmp(Before(buffer) + offset, After(buffer) + offset, static_cast<std::size_t>(size)) == 0;
  }

  void Place(Problem& problem, const char* buffer, std::int64_t offset, std::int64_t element) const {
    problem.buffer = buffer;
    problem.byte_offset = offset;
    problem.token = token_;
    problem.head = head_;
    problem.element = element;
  }

  bool Open() const {
    if (options_.policy->nonfinite != NonFiniteRule::kUnjudged) return false;
    const bool finite =
        std::all_of(row_.classes, row_.classes + row_.columns, [](std::uint8_t c) { return c == kFinite; });
    return !finite || !std::isfinite(in_.weights(token_, head_));
  }

  void JudgeHead() {
    EvaluateQHead(*options_.stages, strict_, in_, token_, head_, strict_row_);
    EvaluateQHead(*options_.stages, enclosure_, in_, token_, head_, row_);
    const auto dim = static_cast<int>(in_.head_dim);
    const int blocks = mxfp4_ ? dim / kMxfp4Block : 1;
    if (Open()) {
      verdict_.open.push_back({token_, head_});
      verdict_.tally(ElementKind::kCode).unjudged += dim;
      verdict_.tally(ElementKind::kScale).unjudged += mxfp4_ ? blocks : 0;
      verdict_.tally(ElementKind::kWeight).unjudged += 1;
      return;
    }
    RoundQHead(*options_.stages, *options_.policy, in_, token_, head_, strict_row_, expected_);
    // The columns before the rotated ones are bf16 already, and exact.
    CandidatesOf(enclosure_, row_, 0, dim, true, candidates_);
    for (int i = 0; i < dim; ++i) {
      if (mxfp4_) {
        const std::uint8_t packed = After(code_buffer_)[(cell() * dim + i) / 2];
        observed_[i] = i % 2 == 0 ? FirstNibble(packed) : SecondNibble(packed);
      } else {
        observed_[i] = After(code_buffer_)[cell() * dim + i];
      }
    }
    if (mxfp4_) {
      for (int b = 0; b < blocks; ++b) JudgeMxfp4Block(b);
      JudgeWeight(0);
    } else {
      JudgeFp8Head();
    }
  }

  void JudgeMxfp4Block(int b) {
    const Block block(*options_.stages, rule_, SmallestFactor::kKept, candidates_, b * kMxfp4Block, kMxfp4Block);
    const std::int64_t offset = cell() * (in_.head_dim / kMxfp4Block) + b;
    const std::uint8_t stored = After("q_scale")[offset];
    const BlockChoice choice =
        ChooseExponent(block, observed_ + b * kMxfp4Block, [&](int e) { return Ue8m0FiniteByte(e) == stored; });
    CountElement(verdict_, ElementKind::kScale, stored == expected_.scales[b], choice.stored && choice.reached,
                 Unchanged("q_scale", offset, 1), block.exponents().members(), [&](Problem& problem) {
                   Place(problem, "q_scale", offset, b);
                   problem.observed = ScaleText(spec::ScaleType::kUe8m0Byte, stored);
                   problem.expected = ScaleText(spec::ScaleType::kUe8m0Byte, expected_.scales[b]);
                   problem.allowed =
                       choice.stored ? "this scale only with a code that needs it" : block.exponents().Text();
                 });
    JudgeCodes(block, choice, b * kMxfp4Block);
  }

  // No scale is stored: the folded weight carries it, unless the weight is 0, infinite or NaN.
  void JudgeFp8Head() {
    const Block block(*options_.stages, rule_, SmallestFactor::kKept, candidates_, 0, static_cast<int>(in_.head_dim));
    const std::uint32_t stored = StoredWeightBits();
    const BlockChoice choice = ChooseExponent(block, observed_, [&](int e) {
      const std::vector<std::uint32_t> weights = Weights(e);
      return std::binary_search(weights.begin(), weights.end(), stored);
    });
    JudgeCodes(block, choice, 0);
    JudgeWeight(choice.exponent);
  }

  std::uint32_t StoredWeightBits() const {
    std::uint32_t bits = 0;
    const std::int64_t size = in_.weights_out_bf16 ? 2 : 4;
    std::memcpy(&bits, After("weights_out") + cell() * size, static_cast<std::size_t>(size));
    const float value = in_.weights_out_bf16 ? WidenBf16(static_cast<std::uint16_t>(bits)) : std::bit_cast<float>(bits);
    if (value != value) return in_.weights_out_bf16 ? spec::kBf16.canonical_nan : spec::kFp32.canonical_nan;
    return bits;
  }

  std::vector<std::uint32_t> Weights(int exponent) const {
    const float weight = in_.weights(token_, head_);
    if (mxfp4_) {
      const float factors[] = {weight, in_.softmax_scale, in_.head_scale};
      return FoldedWeights(factors, in_.weights_out_bf16);
    }
    const float factors[] = {weight, PowerOfTwo(exponent), in_.softmax_scale, in_.head_scale};
    return FoldedWeights(factors, in_.weights_out_bf16);
  }

  void JudgeWeight(int exponent) {
    const std::int64_t size = in_.weights_out_bf16 ? 2 : 4;
    const std::uint32_t stored = StoredWeightBits();
    const std::uint32_t expected = StoredWeight(in_, expected_.weight);
    const std::vector<std::uint32_t> set = Weights(exponent);
    const bool member = std::binary_search(set.begin(), set.end(), stored);
    CountElement(verdict_, ElementKind::kWeight, stored == expected, member,
                 Unchanged("weights_out", cell() * size, size), static_cast<int>(set.size()), [&](Problem& problem) {
                   Place(problem, "weights_out", cell() * size, 0);
                   problem.observed = WeightText(stored);
                   problem.expected = WeightText(expected);
                   problem.allowed.clear();
                   for (const std::uint32_t bits : set) {
                     problem.allowed += (problem.allowed.empty() ? "" : " or ") + WeightText(bits);
                   }
                 });
  }

  std::string WeightText(std::uint32_t bits) const {
    if (in_.weights_out_bf16) return fmt::format("0x{:04X} ({:g})", bits, WidenBf16(static_cast<std::uint16_t>(bits)));
    return fmt::format("0x{:08X} ({:.9g})", bits, std::bit_cast<float>(bits));
  }

  void JudgeCodes(const Block& block, const BlockChoice& choice, int first) {
    const spec::Format& format = *rule_.format;
    for (int i = 0; i < block.count(); ++i) {
      const std::uint8_t observed = observed_[first + i];
      const std::uint8_t expected = expected_.codes[first + i];
      if (choice.plain[i] && observed == choice.lo[i]) {
        CountPlain(verdict_, ElementKind::kCode, observed == expected);
        continue;
      }
      const CodeSet set = block.codes(i, choice.exponent);
      const std::int64_t element = first + i;
      const std::int64_t position = cell() * in_.head_dim + element;
      const std::int64_t offset = mxfp4_ ? position / 2 : position;
      const int shift = mxfp4_ && element % 2 != 0 ? 4 : 0;
      const int mask = mxfp4_ ? 0xF : 0xFF;
      const bool unchanged = ((Before(code_buffer_)[offset] ^ After(code_buffer_)[offset]) >> shift & mask) == 0;
      CountElement(verdict_, ElementKind::kCode, observed == expected, set.contains(format, observed), unchanged,
                   set.members(format), [&](Problem& problem) {
                     Place(problem, code_buffer_, offset, element);
                     problem.observed = fmt::format("0x{:02X} ({:g})", observed, Decode(format, observed));
                     problem.expected = fmt::format("0x{:02X} ({:g})", expected, Decode(format, expected));
                     problem.allowed = set.text(format);
                   });
    }
  }

  const IndexerQBinding binding_;
  const IndexerQInputs& in_;
  const JudgeOptions& options_;
  const QuantiseRule rule_;
  const Strict strict_;
  const Enclosure enclosure_;
  const bool mxfp4_;
  const char* code_buffer_;
  const TensorMap& before_;
  const TensorMap& after_;
  CaseVerdict& verdict_;

  std::int64_t token_ = 0;
  std::int64_t head_ = 0;
  Strict::Row strict_row_;
  Enclosure::Row row_;
  StoredQHead expected_;
  Candidates candidates_;
  std::uint8_t observed_[kMaxHeadDim];
};

}  // namespace

void JudgeIndexerQ(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after,
                   CaseVerdict& verdict) {
  IndexerQJudge(c, options, before, after, verdict).Run();
}

}  // namespace kvexact
