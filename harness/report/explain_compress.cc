// SPDX-License-Identifier: Apache-2.0
#include "harness/report/explain_compress.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "harness/case/token_fate.h"
#include "harness/report/explain_parts.h"
#include "reference/formats/bf16.h"
#include "reference/formats/e2m1.h"
#include "reference/operations/compress_token.h"

namespace kvexact::explain {
namespace {

class CompressExplanation {
 public:
  CompressExplanation(const Case& c, const JudgeOptions& options, const ExplainRequest& request,
                      const TensorMap* outputs, Explanation& out)
      : case_(c),
        options_(options),
        request_(request),
        outputs_(outputs),
        out_(out),
        binding_(c),
        in_(binding_.inputs()),
        cache_(CacheOf(c)),
        enclosure_(*options.budget) {}

  void Run() {
    if (!Exits()) return;
    StageTable stages(request_.columns);
    if (in_.op == spec::Operation::kFinalize) {
      strict_.Assign(ScratchRow(), strict_row());
      enclosure_.Assign(ScratchRow(), enclosed_row());
      stages.Add("scratch", strict_row(), enclosed_row());
    } else {
      CompressColumns(*options_.stages, strict_, in_, token_, strict_work_);
      CompressColumns(*options_.stages, enclosure_, in_, token_, enclosed_work_);
      RowsTable();
      for (const int column : request_.columns) ColumnTable(column);
      stages.Add("compressed", strict_row(), enclosed_row());
    }
    if (in_.op == spec::Operation::kGatherSplit) {
      out_.tables.push_back(stages.Finish());
      ScratchTable();
      return;
    }
    NormTable();
    const std::span<const float> weight{in_.norm_weight.data(), static_cast<std::size_t>(in_.norm_weight.size())};
    options_.stages->over(strict_).rms_norm(strict_, strict_row(), weight, in_.rms_norm_eps);
    options_.stages->over(enclosure_).rms_norm(enclosure_, enclosed_row(), weight, in_.rms_norm_eps);
    stages.Add("normed", strict_row(), enclosed_row());
    const RopeAngles angles = AnglesOf(*options_.stages, in_, token_.position);
    strict_work_.unrotated = strict_row();
    options_.stages->over(strict_).rope(strict_, strict_row(), angles);
    options_.stages->over(enclosure_).rope(enclosure_, enclosed_row(), angles);
    stages.Add("rotated", strict_row(), enclosed_row());
    out_.tables.push_back(stages.Finish());
    RotationTable(angles);
    Stored();
  }

 private:
  Strict::Row& strict_row() { return strict_work_.row; }
  Enclosure::Row& enclosed_row() { return enclosed_work_.row; }

  std::span<const float> ScratchRow() const {
    return {in_.scratch.row(token_.index).data(), static_cast<std::size_t>(in_.head_dim)};
  }

  void Fact(std::string text) { out_.facts.push_back(std::move(text)); }

  // The exits in their order, as far as they are reached. False if the token stores nothing.
  bool Exits() {
    const std::int64_t t = request_.token;
    if (t >= in_.num_actual) {
      Fact(fmt::format("token {} lies behind num_actual = {}: inert", t, in_.num_actual));
      return false;
    }
    if (in_.slot_mapping[t] < 0) {
      Fact(fmt::format("slot_mapping is {}: skipped", in_.slot_mapping[t]));
      return false;
    }
    const std::int64_t position = in_.positions[t];
    if (!options_.stages->locate(in_, t, token_)) {
      Fact(fmt::format("position {}: position + 1 is no multiple of {}: ends no window, stores nothing", position,
                       in_.ratio));
      return false;
    }
    Fact(fmt::format("slot_mapping is {}; position {} ends a window of {} rows, positions {} to {}",
                     in_.slot_mapping[t], position, in_.window_rows(), position - in_.window_rows() + 1, position));
    if (in_.op == spec::Operation::kGatherSplit) {
      Fact(fmt::format("stores row {} of the scratch", t));
      return true;
    }
    if (!token_.stored()) {
      Fact(fmt::format("kv_slot_mapping is {}: stores nothing", token_.kv_slot));
      return false;
    }
    Fact(fmt::format(
        "kv_slot_mapping is {}: token {} of page {}; codes from byte {}, scales from byte {}{} of the cache",
        token_.kv_slot, token_.kv_slot % cache_.page_tokens, token_.kv_slot / cache_.page_tokens,
        cache_.codes(token_.kv_slot), cache_.scales(token_.kv_slot),
        cache_.layout.rope_values > 0 ? fmt::format(", RoPE values from byte {}", cache_.rope(token_.kv_slot)) : ""));
    return true;
  }

  std::int64_t RowPosition(std::int64_t r) const { return token_.position - in_.window_rows() + 1 + r; }

  void RowsTable() {
    const std::int64_t request = in_.token_to_req[token_.index];
    ExplanationTable table{fmt::format("rows that request {} gathers", request),
                           {"row", "position", "table column", "state block", "row of block", "first column"},
                           {}};
    for (std::int64_t r = 0; r < in_.window_rows(); ++r) {
      const std::int64_t position = RowPosition(r);
      if (position < 0) {
        table.lines.push_back(
            {std::to_string(r), std::to_string(position), "-", "before position 0: not read", "-", "-"});
        continue;
      }
      const std::int64_t column = position / in_.block_size;
      table.lines.push_back({std::to_string(r), std::to_string(position), std::to_string(column),
                             std::to_string(in_.block_table(request, column)),
                             std::to_string(position % in_.block_size),
                             std::to_string(r >= in_.ratio ? in_.head_dim : 0)});
    }
    out_.tables.push_back(std::move(table));
  }

  // Scores, weights and KV of one column. The weights are those of exact arithmetic: no implementation stores them.
  void ColumnTable(int column) {
    const Window& window = strict_work_.window;
    double maximum = -std::numeric_limits<double>::infinity();
    for (int r = window.masked; r < window.rows(); ++r) {
      maximum = std::max(maximum, double{window.score[static_cast<std::size_t>(r)][column]});
    }
    double sum = 0;
    for (int r = window.masked; r < window.rows(); ++r) {
      sum += std::exp(window.score[static_cast<std::size_t>(r)][column] - maximum);
    }
    ExplanationTable table{
        fmt::format("column {}: softmax over the rows", column), {"row", "score", "weight", "KV"}, {}};
    for (int r = 0; r < window.rows(); ++r) {
      if (r < window.masked) {
        table.lines.push_back({std::to_string(r), "-inf", "0", "0"});
        continue;
      }
      const double score = window.score[static_cast<std::size_t>(r)][column];
      table.lines.push_back({std::to_string(r), Value(score), Value(std::exp(score - maximum) / sum),
                             Value(window.kv[static_cast<std::size_t>(r)][column])});
    }
    out_.tables.push_back(std::move(table));
  }

  // The stage's own steps, before it runs.
  void NormTable() {
    const auto strict_mean = strict_.Divide(strict_.SumOfSquares(strict_row()), strict_row().columns);
    const auto mean = enclosure_.Divide(enclosure_.SumOfSquares(enclosed_row()), enclosed_row().columns);
    const float strict_sum = strict_.Add(strict_mean, in_.rms_norm_eps);
    const auto sum = enclosure_.Add(mean, in_.rms_norm_eps);
    out_.tables.push_back(
        {"RMSNorm",
         {"step", "strict", "admitted"},
         {{"mean of squares", Value(strict_mean), Enclosed(mean)},
          {"eps", Value(in_.rms_norm_eps), ""},
          {"1 / sqrt(mean + eps)", Value(strict_.InverseSqrt(strict_sum)), Enclosed(enclosure_.InverseSqrt(sum))}}});
    ExplanationTable weights{"norm weights", {"column", "weight"}, {}};
    for (const int column : request_.columns) {
      weights.lines.push_back({std::to_string(column), Value(in_.norm_weight[column])});
    }
    out_.tables.push_back(std::move(weights));
  }

  void RotationTable(const RopeAngles& angles) {
    ExplanationTable table{fmt::format("rotation, row {} of the table", token_.position / in_.ratio * in_.ratio),
                           {"column", "pair", "cos", "sin"},
                           {}};
    for (const int column : request_.columns) {
      if (column < angles.first_column) continue;
      const int pair = (column - angles.first_column) / 2;
      table.lines.push_back(
          {std::to_string(column), std::to_string(pair), Value(angles.cos[pair]), Value(angles.sin[pair])});
    }
    if (!table.lines.empty()) out_.tables.push_back(std::move(table));
  }

  void ScratchTable() {
    const std::int64_t stride = 4 * case_.outputs_before.at("scratch").dim(1);
    ExplanationTable table{"scratch", {"column", "expected", "observed", "allowed", "finding"}, {}};
    for (const int column : request_.columns) {
      std::vector<std::string> line = {std::to_string(column), Value(strict_row().value[column])};
      const std::string allowed = Enclosed(enclosed_row(), column);
      if (outputs_ == nullptr) {
        line.insert(line.end(), {"-", allowed, "-"});
      } else {
        float observed = 0;
        std::memcpy(&observed, outputs_->at("scratch").bytes() + token_.index * stride + 4 * column, sizeof observed);
        const Fp32Interval set = Enclosure::ToFp32(Enclosure::At(enclosed_row(), column));
        const bool finite = (set.classes & kFinite) != 0 && observed >= set.lo && observed <= set.hi;
        const bool other = (observed != observed && (set.classes & kNan) != 0) ||
                           (std::isinf(observed) && (set.classes & (observed > 0 ? kPosInf : kNegInf)) != 0);
        const float strict = strict_row().value[column];
        const bool exact = std::bit_cast<std::uint32_t>(observed) == std::bit_cast<std::uint32_t>(strict) ||
                           (observed != observed && strict != strict);
        line.insert(line.end(), {Value(observed), allowed, FindingText(exact, finite || other)});
      }
      table.lines.push_back(std::move(line));
    }
    out_.tables.push_back(std::move(table));
  }

  std::uint32_t LoadScale(int b) const {
    std::uint32_t bits = 0;
    const int size = cache_.layout.scale_bytes();
    std::memcpy(&bits, outputs_->at("kv_cache").bytes() + cache_.scales(token_.kv_slot) + b * size,
                static_cast<std::size_t>(size));
    return bits;
  }

  void LoadCodes(std::uint8_t* codes) const {
    const std::uint8_t* bytes = outputs_->at("kv_cache").bytes() + cache_.codes(token_.kv_slot);
    const bool nibbles = cache_.layout.code_type == spec::CodeType::kE2M1Nibble;
    for (int i = 0; i < cache_.layout.code_values; ++i) {
      codes[i] = !nibbles ? bytes[i] : i % 2 == 0 ? FirstNibble(bytes[i / 2]) : SecondNibble(bytes[i / 2]);
    }
  }

  void Stored() {
    const spec::Layout& layout = cache_.layout;
    RoundToken(*options_.stages, *options_.policy, layout, strict_, strict_work_, expected_);
    const bool bf16 = options_.policy->bf16_before_quantise;
    CandidatesOf(enclosure_, enclosed_row(), 0, layout.code_values, bf16, candidates_);
    float values[kMaxHeadDim];
    for (int i = 0; i < layout.code_values; ++i) {
      values[i] = bf16 ? WidenBf16(RoundToBf16(strict_row().value[i])) : strict_row().value[i];
    }
    std::uint8_t observed[kMaxHeadDim];
    if (outputs_ != nullptr) LoadCodes(observed);
    const QuantiseRule rule = CompressRule(layout, *options_.policy);
    const auto scale_text = [&](std::uint32_t bits) {
      return fmt::format("0x{:0{}X}", bits, 2 * layout.scale_bytes());
    };
    const QuantisedColumns q{
        .stages = *options_.stages,
        .rule = rule,
        .smallest = SmallestFactorOf(*options_.budget),
        .candidates = candidates_,
        .values = {values, static_cast<std::size_t>(layout.code_values)},
        .expected = expected_.codes,
        .observed = outputs_ != nullptr ? observed : nullptr,
        .block = layout.quant_block,
        .stored_scale = [&](int, int e) { return scale_text(StoredScale(layout.scale_type, e)); },
        .observed_scale = [&](int b) { return scale_text(LoadScale(b)); },
        .matches = [&](int b, int e) { return StoredScale(layout.scale_type, e) == LoadScale(b); },
    };
    ExplainQuantised(q, request_.columns, out_);
    RopeTable();
  }

  void RopeTable() {
    const spec::Layout& layout = cache_.layout;
    if (layout.rope_values == 0) return;
    Candidates rotated;
    CandidatesOf(enclosure_, enclosed_row(), layout.code_values, layout.rope_values, true, rotated);
    ExplanationTable table{"bf16 values", {"column", "expected", "observed", "allowed", "finding"}, {}};
    for (const int column : request_.columns) {
      const int i = column - layout.code_values;
      if (i < 0) continue;
      const Bf16Set set(rotated, i);
      const auto text = [](std::uint16_t bits) { return fmt::format("0x{:04X} ({:g})", bits, WidenBf16(bits)); };
      std::vector<std::string> line = {std::to_string(column), text(expected_.rope[i])};
      if (outputs_ == nullptr) {
        line.insert(line.end(), {"-", set.text(), "-"});
      } else {
        std::uint16_t bits = 0;
        std::memcpy(&bits, outputs_->at("kv_cache").bytes() + cache_.rope(token_.kv_slot) + 2 * i, sizeof bits);
        line.insert(line.end(), {text(bits), set.text(), FindingText(bits == expected_.rope[i], set.contains(bits))});
      }
      table.lines.push_back(std::move(line));
    }
    if (!table.lines.empty()) out_.tables.push_back(std::move(table));
  }

  const Case& case_;
  const JudgeOptions& options_;
  const ExplainRequest& request_;
  const TensorMap* outputs_;
  Explanation& out_;
  const CompressBinding binding_;
  const CompressInputs& in_;
  const spec::PagedCache cache_;
  const Strict strict_;
  const Enclosure enclosure_;

  LiveToken token_;
  TokenWorkspace<Strict> strict_work_;
  TokenWorkspace<Enclosure> enclosed_work_;
  StoredToken expected_{};
  Candidates candidates_{};
};

}  // namespace

void ExplainCompress(const Case& c, const JudgeOptions& options, const ExplainRequest& request,
                     const TensorMap* outputs, Explanation& out) {
  CompressExplanation(c, options, request, outputs, out).Run();
}

}  // namespace kvexact::explain
