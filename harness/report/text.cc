// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/report/build_info.h"
#include "harness/report/table_text.h"

namespace kvexact {
namespace {

constexpr std::size_t kProblemsShown = 8;

using Cells = std::vector<std::string>;

std::string Percent(std::optional<double> value) { return value ? fmt::format("{:.3f}", *value) : "-"; }

Cells RowCells(const std::string& name, const ReportRow& row) {
  const Tally sum = row.total();
  Cells cells = {name, row.rows};
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

std::string TotalsText(const Report& report) {
  std::vector<Cells> lines = {{"operation", "window", "cases", "tokens", "elements", "exact", "allowed", "wrong",
                               "touched", "unwritten", "unstable", "unjudged", "code%", "scale%", "bf16%", "weight%",
                               "fp32 ulp"}};
  for (const ReportRow& row : report.rows()) lines.push_back(RowCells(spec::row(row.op).name, row));
  return TableText(lines, 2) +
         "code% to weight%: share of allowed sets with one member; fp32 ulp: mean width of the allowed sets\n";
}

std::string HeadText(const RunDescription& d) {
  const BuildInfo& build = ThisBuild();
  std::string text = fmt::format("kvexact {} (revision {}, {}, {})\n", build.version, build.git_revision,
                                 build.compiler, build.build_type);
  text += fmt::format("{} {}", d.command, d.subject);
  if (!d.version.empty() || !d.device.empty()) {
    text += fmt::format(" ({}{}{})", d.version, d.version.empty() || d.device.empty() ? "" : "; ", d.device);
  }
  text += fmt::format(": policy {}, budget {}", d.policy, d.budget);
  if (d.seed) text += fmt::format(", seed {}", *d.seed);
  if (d.max_configs) text += fmt::format(", at most {} configurations", *d.max_configs);
  if (d.shard) text += fmt::format(", shard {}", *d.shard);
  return text + "\n";
}

std::string PlaceText(const Problem& p) {
  if (p.token < 0) return fmt::format("{} byte {}", p.buffer, p.byte_offset);
  std::string text = fmt::format("{} {} of token {}", NameOf(p.kind), p.element, p.token);
  if (p.head >= 0) text += fmt::format(", head {}", p.head);
  return text + fmt::format(" ({} byte {})", p.buffer, p.byte_offset);
}

std::string ProblemText(const Problem& p) {
  static constexpr const char* kNames[] = {"wrong", "unwritten", "touched", "unstable"};
  std::string text = fmt::format("  {:<9} {}: observed {}, expected {}", kNames[static_cast<int>(p.what)], PlaceText(p),
                                 p.observed, p.expected);
  if (!p.allowed.empty() && p.allowed != "unchanged") text += fmt::format(", allowed {}", p.allowed);
  return text + "\n";
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

std::string BudgetText(const Failure& failure, const RunDescription& description) {
  std::string text = fmt::format("  judged under policy {}, budget {}", description.policy, description.budget);
  const Tally sum = failure.result.verdict.total();
  if (failure.result.status != CaseStatus::kJudged || sum.wrong == 0 || sum.unwritten > 0) return text + "\n";
  if (failure.admitted_by.empty()) return text + "; no other named budget admits it\n";
  text += "; admitted by";
  for (const std::string& name : failure.admitted_by) text += " " + name;
  return text + "\n";
}

std::string OpenEnds(const Report& report) {
  std::string text;
  for (const Drift& d : report.drift()) {
    text += fmt::format(
        "drift: {} {} {}: {} of {} elements whose set has several members differ from the strict model, most of them "
        "in {} "
        "of {} cases\n",
        spec::row(d.op).name, d.rows, NameOf(d.kind), d.differing, d.open_sets, d.drifting_cases, d.open_cases);
  }
  for (const auto& [reason, cases] : report.unsupported()) {
    text += fmt::format("unsupported: {} cases: {}\n", cases, Printable(reason, 200));
  }
  for (const std::string& message : report.unreadable()) text += fmt::format("unreadable: {}\n", message);
  const auto more = report.unreadable_cases() - static_cast<std::int64_t>(report.unreadable().size());
  if (more > 0) text += fmt::format("unreadable: {} more\n", more);
  if (report.description().require_all) {
    for (const std::string& name : report.missing_operations()) {
      text += fmt::format("required: nothing of {} was judged\n", name);
    }
  }
  return text;
}

}  // namespace

std::string FailureText(const Failure& failure, const RunDescription& description) {
  const CaseResult& result = failure.result;
  std::string text = fmt::format("{}: {}\n  case {}\n", result.op ? spec::row(*result.op).name : "case",
                                 Printable(CountsText(result), 400), Printable(result.name, 2000));
  const std::vector<Problem>& problems = result.verdict.problems;
  for (std::size_t i = 0; i < std::min(problems.size(), kProblemsShown); ++i) text += ProblemText(problems[i]);
  if (problems.size() > kProblemsShown) text += "  ...\n";
  return text + BudgetText(failure, description) + fmt::format("  repeat: {}\n", failure.repeat);
}

std::string ReportText(const Report& report) {
  std::string text = HeadText(report.description());
  if (!report.rows().empty()) text.append("\n").append(TotalsText(report));
  const std::string ends = OpenEnds(report);
  if (!ends.empty()) text.append("\n").append(ends);
  for (const Failure& failure : report.failures()) text.append("\n").append(FailureText(failure, report.description()));
  const auto more = report.failing_cases() - static_cast<std::int64_t>(report.failures().size());
  if (more > 0) text += fmt::format("\n{} more failing cases\n", more);
  return text + "\n";
}

std::string SummaryLine(const Report& report) {
  const ReportRow row = report.total();
  const Tally sum = row.total();
  const std::optional<double> tightness = PooledTightness(row);
  return fmt::format(
      "verdict={} cases={} elements={} exact={} allowed={} wrong={} touched={} unwritten={} unstable={} unjudged={} "
      "unsupported={} crashed={} tightness={} policy={} budget={}",
      NameOf(report.conclusion()), row.cases, sum.elements(), sum.exact, sum.allowed, sum.wrong, row.touched,
      sum.unwritten, row.unstable_elements(), sum.unjudged, row.unsupported, row.errors + row.crashed,
      tightness ? fmt::format("{:.4f}", *tightness) : "none", report.description().policy, report.description().budget);
}

}  // namespace kvexact
