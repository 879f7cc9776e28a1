// SPDX-License-Identifier: Apache-2.0
#include "harness/report/report_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/markup.h"
#include "harness/report/text.h"
#include "harness/report/totals.h"

namespace kvexact {
namespace {

constexpr std::size_t kProblemsShown = 4;
constexpr std::size_t kMostText = 150000;

std::string Line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += fmt::format(" {} |", MarkdownText(cell, 400));
  return line + "\n";
}

std::string TotalsTable(const Report& report) {
  const std::vector<std::string> header = TotalsHeader();
  std::string text = Line(header) + "| --- | --- |";
  for (std::size_t i = 2; i < header.size(); ++i) text += " ---: |";
  text += "\n";
  for (const ReportRow& row : report.rows()) text += Line(TotalsCells(spec::row(row.op).name, row));
  return text + "\n" + MarkdownText(TotalsNote()) + "\n";
}

std::string FailureSection(const Failure& failure) {
  const CaseResult& result = failure.result;
  std::string text = fmt::format("<details><summary>{}: {}</summary>\n\n",
                                 result.op ? spec::row(*result.op).name : "case", MarkupText(CountsText(result), 400));
  const std::vector<Problem>& problems = result.verdict.problems;
  if (!problems.empty()) {
    text += Line({"what", "where", "observed", "expected", "allowed"}) + "| --- | --- | --- | --- | --- |\n";
    for (std::size_t i = 0; i < std::min(problems.size(), kProblemsShown); ++i) {
      const Problem& p = problems[i];
      text += Line({NameOf(p.what), PlaceText(p), p.observed, p.expected, p.allowed});
    }
    text += "\n";
  }
  if (!failure.stage.why.empty()) {
    text += fmt::format("First wrong{}: {}\n\n",
                        failure.stage.stage.empty() ? "" : " at **" + MarkdownText(failure.stage.stage, 60) + "**",
                        MarkdownText(failure.stage.why));
  }
  for (const std::string& suspect : failure.suspects)
    text += fmt::format("As in the known fault {}\n\n", MarkdownText(suspect));
  text += "Repeat:\n\n" + MarkdownCode(failure.repeat);
  if (failure.shrunk) {
    text += fmt::format("\nShrunk: tokens {}, requests {}:\n\n", failure.shrunk->tokens, failure.shrunk->requests) +
            MarkdownCode(failure.shrunk->repeat);
  }
  return text + "\n</details>\n\n";
}

}  // namespace

std::string ReportMarkdown(const Report& report) {
  std::string text = fmt::format("## kvexact: {}\n\n{}\n\n{}\n\n", NameOf(report.conclusion()),
                                 MarkdownText(RunText(report.description())),
                                 MarkdownText(EnvironmentText(report.parts().environment)));
  if (!report.rows().empty()) text += TotalsTable(report) + "\n";
  std::size_t remarks = 0;
  for (const std::string& remark : Remarks(report)) {
    if (++remarks <= 20) text += "- " + MarkdownText(remark, 400) + "\n";
  }
  if (remarks > 20) text += fmt::format("- {} more remarks\n", remarks - 20);
  if (remarks > 0) text += "\n";
  std::int64_t shown = 0;
  for (const Failure& failure : report.failures()) {
    if (shown >= static_cast<std::int64_t>(Report::kMaxStudied) || text.size() > kMostText) break;
    text += FailureSection(failure);
    ++shown;
  }
  if (report.failing_cases() > shown) text += fmt::format("{} more failing cases\n\n", report.failing_cases() - shown);
  return text + MarkdownCode(SummaryLine(report));
}

}  // namespace kvexact
