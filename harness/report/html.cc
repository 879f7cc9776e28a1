// SPDX-License-Identifier: Apache-2.0
#include "harness/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/html_page.h"
#include "harness/report/markup.h"
#include "harness/report/text.h"
#include "harness/report/totals.h"

namespace kvexact {
namespace {

constexpr std::size_t kMostDetails = 600'000;  // bytes of the page before failures become lines
constexpr std::size_t kReserve = 20'000;       // for the page's style and end
constexpr std::size_t kProblemsShown = 12;
constexpr std::size_t kRemarksShown = 100;

std::string Facts(const std::vector<std::pair<const char*, std::string>>& facts) {
  std::string text = "<dl>";
  for (const auto& [name, value] : facts) {
    if (!value.empty()) text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, MarkupText(value, 400));
  }
  return text + "</dl>\n";
}

template <class T>
std::string OptionalText(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "";
}

std::string Words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string Head(const Report& report) {
  const RunDescription& d = report.description();
  const ReportParts& parts = report.parts();
  const char* verdict = NameOf(report.conclusion());
  std::string text = fmt::format("<h1>{} {} <span class=\"verdict {}\">{}</span></h1>\n", MarkupText(d.command, 40),
                                 MarkupText(d.subject, 200), verdict, verdict);
  text += fmt::format("<pre>{}</pre>\n", MarkupText(SummaryLine(report)));
  return text + Facts({{"Subject", d.subject},
                       {"Its version", d.version},
                       {"Device", d.device},
                       {"Policy", d.policy},
                       {"Budget", d.budget},
                       {"Seed", OptionalText(d.seed)},
                       {"Cases asked for", OptionalText(d.cases)},
                       {"Configurations at most", OptionalText(d.max_configs)},
                       {"Operations asked for", Words(d.operations)},
                       {"Shard", d.shard ? ShardText(*d.shard) : ""},
                       {"Merged from reports", parts.merged_shards > 0 ? std::to_string(parts.merged_shards) : ""},
                       {"Everything required", d.require_all ? "yes" : ""},
                       {"Judged by", EnvironmentText(parts.environment)},
                       {"Started", parts.started},
                       {"Seconds", fmt::format("{:.1f}", parts.seconds)}});
}

std::string Totals(const Report& report) {
  if (report.rows().empty()) return "";
  std::vector<std::vector<std::string>> lines;
  for (const ReportRow& row : report.rows()) lines.push_back(TotalsCells(spec::row(row.op).name, row));
  return "<h2>Operations</h2>\n" + HtmlTable(TotalsHeader(), lines, 2) + "<p class=\"faint\">" +
         MarkupText(TotalsNote()) + "</p>\n";
}

std::string RemarkList(const Report& report) {
  const std::vector<std::string> remarks = Remarks(report);
  if (remarks.empty()) return "";
  std::string list = "<ul>\n";
  for (std::size_t i = 0; i < std::min(remarks.size(), kRemarksShown); ++i) {
    list += "<li>" + MarkupText(remarks[i], 400) + "</li>\n";
  }
  list += "</ul>\n";
  if (remarks.size() > kRemarksShown) list += fmt::format("<p>{} more</p>\n", remarks.size() - kRemarksShown);
  return "<h2>Remarks</h2>\n" +
         (remarks.size() > 12 ? HtmlFold(fmt::format("{} remarks", remarks.size()), list, false) : list);
}

std::string FailureTitle(const Failure& failure) {
  const CaseResult& result = failure.result;
  return fmt::format("{}: {}", result.op ? spec::row(*result.op).name : "case", Printable(CountsText(result), 400));
}

std::string ProblemTable(const std::vector<Problem>& problems) {
  if (problems.empty()) return "";
  std::vector<std::vector<std::string>> lines;
  for (const Problem& p : problems) lines.push_back({NameOf(p.what), PlaceText(p), p.observed, p.expected, p.allowed});
  const std::vector<std::string> header = {"what", "where", "observed", "expected", "allowed"};
  const auto shown = lines.begin() + static_cast<std::ptrdiff_t>(std::min(lines.size(), kProblemsShown));
  std::string text = HtmlTable(header, {lines.begin(), shown}, header.size());
  if (shown != lines.end()) {
    text += HtmlFold(fmt::format("{} more", lines.end() - shown),
                     HtmlTable(header, {shown, lines.end()}, header.size()), false);
  }
  return text;
}

std::string FailureBody(const Failure& failure, const RunDescription& description) {
  std::string text = fmt::format("<p class=\"faint\">{}</p>\n", MarkupText(failure.result.name));
  if (failure.map) text += MapHtml(*failure.map);
  if (!failure.stage.why.empty()) {
    text += fmt::format("<p>First wrong{}: {}.</p>\n",
                        failure.stage.stage.empty() ? "" : " at <b>" + MarkupText(failure.stage.stage, 60) + "</b>",
                        MarkupText(failure.stage.why, 300));
  }
  for (const std::string& suspect : failure.suspects) {
    text += fmt::format("<p>As in the known fault <b>{}</b>.</p>\n", MarkupText(suspect, 300));
  }
  text += ProblemTable(failure.result.verdict.problems);
  text += fmt::format("<p class=\"faint\">Judged under policy {}, budget {}", MarkupText(description.policy, 60),
                      MarkupText(description.budget, 60));
  if (!failure.admitted_by.empty()) {
    text += fmt::format("; admitted by {}", MarkupText(Words(failure.admitted_by), 200));
  }
  text += fmt::format(".</p>\n<p>Repeat:</p>\n<pre>{}</pre>\n", MarkupText(failure.repeat, 4000));
  if (failure.shrunk) {
    text +=
        fmt::format("<p>Shrunk: tokens {}, requests {} ({} trials{}):</p>\n<pre>{}</pre>\n", failure.shrunk->tokens,
                    failure.shrunk->requests, failure.shrunk->trials,
                    failure.shrunk->least ? ", nothing simpler fails" : "", MarkupText(failure.shrunk->repeat, 4000));
  }
  return text;
}

// Failures in full so long as there is room, then a line each, then their number.
std::string Failures(const Report& report, std::size_t used) {
  if (report.failing_cases() == 0) return "";
  std::string text = fmt::format("<h2>Failing cases: {}</h2>\n", report.failing_cases());
  std::int64_t shown = 0;
  std::string lines;
  for (const Failure& failure : report.failures()) {
    if (failure.studied && lines.empty()) {
      std::string full = HtmlFold(FailureTitle(failure), FailureBody(failure, report.description()), shown == 0);
      if (used + text.size() + full.size() < kMostDetails) {
        text += full;
        ++shown;
        continue;
      }
    }
    const std::string line = fmt::format("<p>{}</p>\n<pre>{}</pre>\n", MarkupText(FailureTitle(failure), 300),
                                         MarkupText(failure.repeat, 1000));
    if (used + text.size() + lines.size() + line.size() + kReserve > kMaxHtml) break;
    lines += line;
    ++shown;
  }
  if (!lines.empty()) text += HtmlFold("The others, a line each", lines, false);
  if (report.failing_cases() > shown)
    text += fmt::format("<p>{} more failing cases.</p>\n", report.failing_cases() - shown);
  return text;
}

}  // namespace

std::string ReportHtml(const Report& report) {
  std::string body = Head(report) + Totals(report) + RemarkList(report);
  body += Failures(report, body.size());
  return HtmlPage(fmt::format("kvexact: {} {}", report.description().subject, NameOf(report.conclusion())), body);
}

std::string ExplanationHtml(const Explanation& explanation, const std::string& heading,
                            const std::vector<std::string>& lines) {
  std::string body = "<h1>" + MarkupText(heading, 400) + "</h1>\n";
  for (const std::string& line : lines) body += "<p class=\"faint\">" + MarkupText(line) + "</p>\n";
  for (const std::string& fact : explanation.facts) body += "<p>" + MarkupText(fact) + "</p>\n";
  for (const ExplanationTable& table : explanation.tables) {
    const std::string markup = HtmlTable(table.header, table.lines, 0);
    const bool folds = table.lines.size() > 40;
    body += "<h2>" + MarkupText(table.title, 200) + "</h2>\n" +
            (folds ? HtmlFold(fmt::format("{} lines", table.lines.size()), markup, false) : markup);
  }
  return HtmlPage(heading, body);
}

}  // namespace kvexact
