// SPDX-License-Identifier: Apache-2.0
#include "harness/report/explain_indexer_q.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "harness/judge/folded_weight.h"
#include "harness/report/explain_parts.h"
#include "reference/formats/bf16.h"
#include "reference/formats/e2m1.h"
#include "reference/operations/indexer_q.h"

namespace kvexact::explain {
namespace {

class IndexerQExplanation {
 public:
  IndexerQExplanation(const Case& c, const JudgeOptions& options, const ExplainRequest& request,
                      const TensorMap* outputs, Explanation& out)
      : options_(options),
        request_(request),
        outputs_(outputs),
        out_(out),
        binding_(c),
        in_(binding_.inputs()),
        enclosure_(*options.budget),
        mxfp4_(in_.codes == QCodes::kE2M1),
        cell_(request.token * in_.heads + request.head) {}

  void Run() {
    if (request_.token >= in_.num_actual) {
      out_.facts.push_back(fmt::format("token {} lies behind num_actual = {}: inert", request_.token, in_.num_actual));
      return;
    }
    const std::int64_t position = in_.positions[request_.token];
    out_.facts.push_back(fmt::format("position {}, head {} of {}; the last {} columns rotate", position, request_.head,
                                     in_.heads, in_.rope_head_dim));
    StageTable stages(request_.columns);
    LoadQ();
    stages.Add("Q", row_, enclosed_);
    EvaluateQHead(*options_.stages, strict_, in_, request_.token, request_.head, row_);
    EvaluateQHead(*options_.stages, enclosure_, in_, request_.token, request_.head, enclosed_);
    stages.Add("rotated", row_, enclosed_);
    out_.tables.push_back(stages.Finish());
    RotationTable(position);
    Stored();
  }

 private:
  void LoadQ() {
    float values[kMaxHeadDim];
    for (std::int64_t i = 0; i < in_.head_dim; ++i) values[i] = WidenBf16(in_.q(cell_, i));
    strict_.Assign({values, static_cast<std::size_t>(in_.head_dim)}, row_);
    enclosure_.Assign({values, static_cast<std::size_t>(in_.head_dim)}, enclosed_);
  }

  void RotationTable(std::int64_t position) {
    const auto first = static_cast<int>(in_.head_dim - in_.rope_head_dim);
    ExplanationTable table{
        fmt::format("rotation, row {} of the table", position), {"column", "pair", "cos", "sin"}, {}};
    for (const int column : request_.columns) {
      if (column < first) continue;
      const int pair = (column - first) / 2;
      table.lines.push_back({std::to_string(column), std::to_string(pair), Value(in_.cos_sin(position, pair)),
                             Value(in_.cos_sin(position, in_.rope_head_dim / 2 + pair))});
    }
    if (!table.lines.empty()) out_.tables.push_back(std::move(table));
  }

  const std::uint8_t* Bytes(const char* buffer) const { return outputs_->find(buffer)->second.bytes(); }

  void LoadCodes(std::uint8_t* codes) const {
    const std::int64_t dim = in_.head_dim;
    for (std::int64_t i = 0; i < dim; ++i) {
      if (!mxfp4_) {
        codes[i] = Bytes("q_fp8")[cell_ * dim + i];
      } else {
        const std::uint8_t packed = Bytes("q_packed")[(cell_ * dim + i) / 2];
        codes[i] = i % 2 == 0 ? FirstNibble(packed) : SecondNibble(packed);
      }
    }
  }

  std::uint8_t LoadScale(int b) const { return Bytes("q_scale")[cell_ * (in_.head_dim / kMxfp4Block) + b]; }

  std::uint32_t LoadWeight() const {
    std::uint32_t bits = 0;
    const std::int64_t size = in_.weights_out_bf16 ? 2 : 4;
    std::memcpy(&bits, Bytes("weights_out") + cell_ * size, static_cast<std::size_t>(size));
    return bits;
  }

  // Stored bits, every NaN canonical.
  std::uint32_t Canonical(std::uint32_t bits) const {
    const float value = WeightValue(bits);
    if (value == value) return bits;
    return in_.weights_out_bf16 ? spec::kBf16.canonical_nan : spec::kFp32.canonical_nan;
  }

  float WeightValue(std::uint32_t bits) const {
    return in_.weights_out_bf16 ? WidenBf16(static_cast<std::uint16_t>(bits)) : std::bit_cast<float>(bits);
  }

  std::string WeightText(std::uint32_t bits) const {
    return fmt::format("0x{:0{}X} ({:.9g})", bits, in_.weights_out_bf16 ? 4 : 8, WeightValue(bits));
  }

  std::vector<std::uint32_t> Weights(int exponent) const {
    std::vector<float> factors = {in_.weights(request_.token, request_.head)};
    if (!mxfp4_) factors.push_back(PowerOfTwo(exponent));
    factors.push_back(in_.softmax_scale);
    factors.push_back(in_.head_scale);
    return FoldedWeights(factors, in_.weights_out_bf16);
  }

  bool WeightMatches(int exponent) const {
    const std::vector<std::uint32_t> weights = Weights(exponent);
    return std::binary_search(weights.begin(), weights.end(), Canonical(LoadWeight()));
  }

  void Stored() {
    RoundQHead(*options_.stages, *options_.policy, in_, request_.token, request_.head, row_, expected_);
    const auto dim = static_cast<int>(in_.head_dim);
    CandidatesOf(enclosure_, enclosed_, 0, dim, true, candidates_);
    float values[kMaxHeadDim];
    for (int i = 0; i < dim; ++i) values[i] = WidenBf16(RoundToBf16(row_.value[i]));
    std::uint8_t observed[kMaxHeadDim];
    if (outputs_ != nullptr) LoadCodes(observed);
    const QuantiseRule rule = IndexerQRule(in_.codes, *options_.policy);
    const QuantisedColumns q{
        .stages = *options_.stages,
        .rule = rule,
        .smallest = SmallestFactor::kKept,
        .candidates = candidates_,
        .values = {values, static_cast<std::size_t>(dim)},
        .expected = expected_.codes,
        .observed = outputs_ != nullptr ? observed : nullptr,
        .block = mxfp4_ ? kMxfp4Block : dim,
        .stored_scale = [&](int, int e) { return mxfp4_ ? fmt::format("0x{:02X}", Ue8m0FiniteByte(e)) : ""; },
        .observed_scale = [&](int b) { return mxfp4_ ? fmt::format("0x{:02X}", LoadScale(b)) : ""; },
        .matches = [&](int b, int e) { return mxfp4_ ? Ue8m0FiniteByte(e) == LoadScale(b) : WeightMatches(e); },
    };
    WeightTable(ExplainQuantised(q, request_.columns, out_));
  }

  static std::string ScaleText(float scale) {
    return std::isinf(scale) ? "infinity" : fmt::format("2^{}", std::ilogb(scale));
  }

  void WeightTable(int exponent) {
    const std::uint32_t expected = StoredWeight(in_, expected_.weight);
    const std::vector<std::uint32_t> set = Weights(exponent);
    std::string allowed;
    for (const std::uint32_t bits : set) allowed += (allowed.empty() ? "" : " or ") + WeightText(bits);
    std::vector<std::string> line = {Value(in_.weights(request_.token, request_.head)),
                                     mxfp4_ ? "-" : ScaleText(expected_.scale), Value(in_.softmax_scale),
                                     Value(in_.head_scale), WeightText(expected)};
    if (outputs_ == nullptr) {
      line.insert(line.end(), {"-", allowed, "-"});
    } else {
      const std::uint32_t stored = Canonical(LoadWeight());
      line.insert(line.end(), {WeightText(stored), allowed,
                               FindingText(stored == expected, std::binary_search(set.begin(), set.end(), stored))});
    }
    out_.tables.push_back(
        {"folded weight",
         {"weight", "scale", "softmax scale", "head scale", "expected", "observed", "allowed", "finding"},
         {std::move(line)}});
  }

  const JudgeOptions& options_;
  const ExplainRequest& request_;
  const TensorMap* outputs_;
  Explanation& out_;
  const IndexerQBinding binding_;
  const IndexerQInputs& in_;
  const Strict strict_;
  const Enclosure enclosure_;
  const bool mxfp4_;
  const std::int64_t cell_;

  Strict::Row row_;
  Enclosure::Row enclosed_;
  StoredQHead expected_{};
  Candidates candidates_{};
};

}  // namespace

void ExplainIndexerQ(const Case& c, const JudgeOptions& options, const ExplainRequest& request,
                     const TensorMap* outputs, Explanation& out) {
  IndexerQExplanation(c, options, request, outputs, out).Run();
}

}  // namespace kvexact::explain
