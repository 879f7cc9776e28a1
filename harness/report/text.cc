// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/report/table_text.h"
#include "harness/report/totals.h"

namespace kvexact {
namespace {

constexpr std::size_t kProblemsShown = 8;

std::string TotalsText(const Report& report) {
  std::vector<std::vector<std::string>> lines = {TotalsHeader()};
  for (const ReportRow& row : report.rows()) lines.push_back(TotalsCells(spec::row(row.op).name, row));
  return TableText(lines, 2) + TotalsNote() + "\n";
}

std::string ProblemText(const Problem& p) {
  std::string text =
      fmt::format("  {:<9} {}: observed {}, expected {}", NameOf(p.what), PlaceText(p), p.observed, p.expected);
  if (!p.allowed.empty() && p.allowed != "unchanged") text += fmt::format(", allowed {}", p.allowed);
  return text + "\n";
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

std::string Counted(std::int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string ShrunkText(const SmallFailure& small) {
  return fmt::format("  shrunk to {} of {} ({}): {}\n          {}\n", Counted(small.tokens, "token"),
                     Counted(small.requests, "request"),
                     small.least ? Counted(small.trials, "trial") + ", nothing simpler fails"
                                 : Counted(small.trials, "trial") + ", not to the end",
                     Printable(CountsText(small.result), 400), Printable(small.repeat, 8000));
}

// The stage and the known faults, where they were looked for and found.
std::string StudyText(const Failure& failure) {
  std::string text;
  if (!failure.stage.why.empty()) {
    text += fmt::format("  first wrong{}: {}\n", failure.stage.stage.empty() ? "" : " at " + failure.stage.stage,
                        failure.stage.why);
  }
  for (const std::string& suspect : failure.suspects) text += fmt::format("  as in the known fault {}\n", suspect);
  return text;
}

std::string MergedText(const Report& report) {
  const std::int64_t shards = report.parts().merged_shards;
  return shards > 0 ? fmt::format(", merged from {} reports", shards) : "";
}

}  // namespace

std::string FailureText(const Failure& failure, const RunDescription& description) {
  const CaseResult& result = failure.result;
  std::string text = fmt::format("{}: {}\n  case {}\n", result.op ? spec::row(*result.op).name : "case",
                                 Printable(CountsText(result), 400), Printable(result.name, 2000));
  const std::vector<Problem>& problems = result.verdict.problems;
  for (std::size_t i = 0; i < std::min(problems.size(), kProblemsShown); ++i) text += ProblemText(problems[i]);
  if (problems.size() > kProblemsShown) text += "  ...\n";
  text += StudyText(failure) + BudgetText(failure, description) +
          fmt::format("  repeat: {}\n", Printable(failure.repeat, 8000));
  return failure.shrunk ? text + ShrunkText(*failure.shrunk) : text;
}

std::string ReportText(const Report& report) {
  std::string text =
      EnvironmentText(report.parts().environment) + "\n" + RunText(report.description()) + MergedText(report) + "\n";
  if (!report.rows().empty()) text.append("\n").append(TotalsText(report));
  const std::vector<std::string> remarks = Remarks(report);
  if (!remarks.empty()) text += "\n";
  for (const std::string& remark : remarks) text += remark + "\n";
  const std::size_t shown = std::min(report.failures().size(), Report::kMaxStudied);
  for (std::size_t i = 0; i < shown; ++i) {
    text.append("\n").append(FailureText(report.failures()[i], report.description()));
  }
  const std::int64_t more = report.failing_cases() - static_cast<std::int64_t>(shown);
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
