// SPDX-License-Identifier: Apache-2.0
#include "harness/report/explain_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "reference/formats/decode.h"

namespace kvexact::explain {
namespace {

std::string ClassesText(std::uint8_t classes) {
  std::string text;
  const auto add = [&](ValueClass value_class, const char* name) {
    if ((classes & value_class) != 0) text += fmt::format("{}{}", text.empty() ? "" : " or ", name);
  };
  add(kZero, "0");
  add(kPosInf, "inf");
  add(kNegInf, "-inf");
  add(kNan, "NaN");
  return text;
}

std::string RangeText(float lo, float hi, std::uint8_t classes) {
  std::string text;
  if ((classes & kFinite) != 0) text = lo == hi ? Value(lo) : fmt::format("[{}, {}]", Value(lo), Value(hi));
  const std::string others = ClassesText(classes);
  if (others.empty()) return text;
  return text.empty() ? others : text + " or " + others;
}

std::string ExponentText(int exponent) { return exponent == kInfiniteExponent ? "inf" : fmt::format("2^{}", exponent); }

std::string ExponentsText(const ExponentSet& set) {
  std::string text;
  if (set.lo <= set.hi) {
    text =
        set.lo == set.hi ? ExponentText(set.lo) : fmt::format("{} to {}", ExponentText(set.lo), ExponentText(set.hi));
  }
  if (set.infinite) text += text.empty() ? "inf" : " or inf";
  return text;
}

std::string CodeText(const spec::Format& format, std::uint8_t code) {
  return fmt::format("0x{:02X} ({:g})", code, Decode(format, code));
}

}  // namespace

std::string Value(double value) { return fmt::format("{:.9g}", value); }

std::string Enclosed(const EnclosedValue& value) {
  const Fp32Interval interval = Enclosure::ToFp32(value);
  return RangeText(interval.lo, interval.hi, interval.classes);
}

std::string Enclosed(const Enclosure::Row& row, int column) { return Enclosed(Enclosure::At(row, column)); }

std::string CandidateText(const Candidates& candidates, int i) {
  return RangeText(candidates.lo[i], candidates.hi[i], candidates.classes[i]);
}

std::string FindingText(bool exact, bool member) { return !member ? "wrong" : exact ? "exact" : "allowed"; }

StageTable::StageTable(const std::vector<int>& columns) : columns_(columns) {
  table_.title = "values before rounding: the strict model's, and what the budget admits";
  table_.header = {"column"};
  for (const int column : columns) table_.lines.push_back({std::to_string(column)});
}

void StageTable::Add(const std::string& stage, const Strict::Row& strict, const Enclosure::Row& enclosed) {
  table_.header.push_back(stage);
  table_.header.emplace_back("admitted");
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    table_.lines[i].push_back(Value(strict.value[columns_[i]]));
    table_.lines[i].push_back(Enclosed(enclosed, columns_[i]));
  }
}

int ExplainQuantised(const QuantisedColumns& q, const std::vector<int>& columns, Explanation& out) {
  const spec::Format& format = *q.rule.format;
  ExplanationTable scales{
      "scales", {"block", "columns", "absmax", "exponent", "admitted", "stored as", "observed", "finding"}, {}};
  ExplanationTable codes{"codes", {"column", "value", "admitted", "code", "observed", "allowed", "finding"}, {}};
  int judged_exponent = 0;
  std::vector<int> seen;
  for (const int column : columns) {
    if (column >= static_cast<int>(q.values.size())) continue;
    const int b = column / q.block;
    const int first = b * q.block;
    const Block block(q.stages, q.rule, q.smallest, q.candidates, first, q.block);
    const float absmax =
        q.stages.absmax(q.rule, q.values.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(q.block)));
    const int strict_exponent = q.stages.exponent(q.rule, absmax);
    BlockChoice choice;
    choice.exponent = strict_exponent;
    if (q.observed != nullptr)
      choice = ChooseExponent(block, q.observed + first, [&](int e) { return q.matches(b, e); });
    judged_exponent = choice.exponent;
    if (std::find(seen.begin(), seen.end(), b) == seen.end()) {
      seen.push_back(b);
      const std::string stored = q.stored_scale(b, strict_exponent);
      const std::string observed = q.observed == nullptr ? "-" : q.observed_scale(b);
      const bool judged = q.observed != nullptr && !stored.empty();
      scales.lines.push_back({std::to_string(b), fmt::format("{}..{}", first, first + q.block - 1), Value(absmax),
                              ExponentText(strict_exponent), ExponentsText(block.exponents()),
                              stored.empty() ? "-" : stored, stored.empty() ? "-" : observed,
                              judged ? FindingText(stored == observed, choice.stored && choice.reached) : "-"});
    }
    const CodeSet set = block.codes(column - first, choice.exponent);
    std::vector<std::string> line = {std::to_string(column), Value(q.values[static_cast<std::size_t>(column)]),
                                     CandidateText(q.candidates, column), CodeText(format, q.expected[column])};
    if (q.observed == nullptr) {
      line.insert(line.end(), {"-", set.text(format), "-"});
    } else {
      const std::uint8_t code = q.observed[column];
      line.insert(line.end(), {CodeText(format, code), set.text(format),
                               FindingText(code == q.expected[column], set.contains(format, code))});
    }
    codes.lines.push_back(std::move(line));
  }
  if (codes.lines.empty()) return judged_exponent;
  out.tables.push_back(std::move(scales));
  out.tables.push_back(std::move(codes));
  return judged_exponent;
}

}  // namespace kvexact::explain
