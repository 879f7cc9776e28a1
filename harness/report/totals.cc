// SPDX-License-Identifier: Apache-2.0
#include "harness/report/totals.h"

#include <fmt/format.h>

#include <string_view>

namespace kvexact {
namespace {

std::string Percent(std::optional<double> value) { return value ? fmt::format("{:.3f}", *value) : "-"; }

}  // namespace

std::vector<std::string> TotalsHeader() {
  return {"operation", "window",   "cases",    "tokens", "elements", "exact", "allowed", "wrong",   "touched",
          "unwritten", "unstable", "unjudged", "code%",  "scale%",   "bf16%", "weight%", "fp32 ulp"};
}

const char* TotalsNote() {
  return "code% to weight%: share of allowed sets with one member; fp32 ulp: mean width of the allowed sets";
}

std::vector<std::string> TotalsCells(const std::string& name, const ReportRow& row) {
  const Tally sum = row.total();
  std::vector<std::string> cells = {name, row.rows};
  for (const std::int64_t count : {row.cases, row.tokens, sum.elements(), sum.exact, sum.allowed, sum.wrong,
                                   row.touched, sum.unwritten, row.unstable_elements(), sum.unjudged}) {
    cells.push_back(std::to_string(count));
  }
  for (const ElementKind kind : {ElementKind::kCode, ElementKind::kScale, ElementKind::kBf16, ElementKind::kWeight}) {
    cells.push_back(Percent(Tightness(row.tallies[static_cast<std::size_t>(kind)])));
  }
  const std::optional<double> width = MeanWidth(row.tallies[static_cast<std::size_t>(ElementKind::kFp32)]);
  cells.push_back(width ? fmt::format("{:.1f}", *width) : "-");
  return cells;
}

std::string ShardText(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

std::string RunText(const RunDescription& d) {
  std::string text = fmt::format("{} {}", Printable(d.command, 40), Printable(d.subject, 200));
  if (!d.version.empty() || !d.device.empty()) {
    text += fmt::format(" ({}{}{})", Printable(d.version, 200), d.version.empty() || d.device.empty() ? "" : "; ",
                        Printable(d.device, 200));
  }
  text += fmt::format(": policy {}, budget {}", d.policy, d.budget);
  if (d.seed) text += fmt::format(", seed {}", *d.seed);
  if (d.max_configs) text += fmt::format(", at most {} configurations", *d.max_configs);
  if (d.shard) text += ", shard " + ShardText(*d.shard);
  return text;
}

std::string EnvironmentText(const Environment& e) {
  return fmt::format("kvexact {} (revision {}, {}, {})", Printable(e.version, 100), Printable(e.git_revision, 100),
                     Printable(e.compiler, 100), Printable(e.build_type, 100));
}

std::string CountsText(const CaseResult& result) {
  if (result.status != CaseStatus::kJudged) return fmt::format("{}: {}", NameOf(result.status), result.message);
  const Tally sum = result.verdict.total();
  std::string text;
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(sum.wrong, "wrong");
  add(sum.unwritten, "unwritten");
  add(result.verdict.touched, "touched");
  add(result.unstable_elements(), "unstable");
  return text + fmt::format(" of {} elements", sum.elements());
}

std::string PlaceText(const Problem& p) {
  if (p.token < 0) return fmt::format("{} byte {}", p.buffer, p.byte_offset);
  std::string text = fmt::format("{} {} of token {}", NameOf(p.kind), p.element, p.token);
  if (p.head >= 0) text += fmt::format(", head {}", p.head);
  return text + fmt::format(" ({} byte {})", p.buffer, p.byte_offset);
}

const char* NameOf(Problem::What what) {
  static constexpr const char* kNames[] = {"wrong", "unwritten", "touched", "unstable"};
  return kNames[static_cast<int>(what)];
}

std::vector<std::string> Remarks(const Report& report) {
  std::vector<std::string> lines;
  for (const std::string& shard : report.parts().missing_shards) lines.push_back("missing: shard " + shard);
  for (const Drift& d : report.drift()) {
    lines.push_back(fmt::format(
        "drift: {} {} {}: {} of {} elements whose set has several members differ from the strict model, most "
        "of them in {} of {} cases",
        spec::row(d.op).name, d.rows, NameOf(d.kind), d.differing, d.open_sets, d.drifting_cases, d.open_cases));
  }
  for (const auto& [reason, cases] : report.unsupported()) {
    lines.push_back(fmt::format("unsupported: {} cases: {}", cases, Printable(reason, 200)));
  }
  for (const std::string& message : report.unreadable()) lines.push_back("unreadable: " + Printable(message, 1000));
  const auto more = report.unreadable_cases() - static_cast<std::int64_t>(report.unreadable().size());
  if (more > 0) lines.push_back(fmt::format("unreadable: {} more", more));
  if (report.description().require_all) {
    for (const std::string& name : report.missing_operations()) {
      lines.push_back(fmt::format("required: nothing of {} was judged", name));
    }
  }
  return lines;
}

}  // namespace kvexact
