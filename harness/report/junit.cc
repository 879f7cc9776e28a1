// SPDX-License-Identifier: Apache-2.0
#include "harness/report/junit.h"

#include <fmt/format.h>

#include "harness/report/markup.h"
#include "harness/report/text.h"
#include "harness/report/totals.h"

namespace kvexact {
namespace {

constexpr std::size_t kShownFailures = 20;  // of one test case
constexpr std::size_t kMostText = 60000;    // characters of one failure's text

// The lines of `text` as character data.
std::string Lines(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size() && out.size() < kMostText;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += MarkupText(std::string_view(text).substr(begin, end - begin), 4000) + "\n";
    begin = end + 1;
  }
  return out;
}

// Test cases of one suite.
class Suite {
 public:
  explicit Suite(std::string name) : name_(std::move(name)) {}

  void Pass(const std::string& test) { Add(test, ""); }
  void Fail(const std::string& test, const std::string& type, const std::string& message, const std::string& text) {
    ++failures_;
    Add(test, fmt::format("      <failure type=\"{}\" message=\"{}\">\n{}      </failure>\n", MarkupText(type),
                          MarkupText(message), Lines(text)));
  }
  void Skip(const std::string& test, const std::string& message) {
    ++skipped_;
    Add(test, fmt::format("      <skipped message=\"{}\"/>\n", MarkupText(message)));
  }
  void Break(const std::string& test, const std::string& message) {
    ++errors_;
    Add(test, fmt::format("      <error type=\"input\" message=\"{}\"/>\n", MarkupText(message)));
  }

  std::string Text(const std::string& timestamp) const {
    return fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\" "
        "timestamp=\"{}\">\n{}  </testsuite>\n",
        MarkupText(name_), tests_, failures_, errors_, skipped_, MarkupText(timestamp), text_);
  }
  int tests() const { return tests_; }
  int failures() const { return failures_; }
  int errors() const { return errors_; }
  int skipped() const { return skipped_; }

 private:
  void Add(const std::string& test, const std::string& body) {
    ++tests_;
    text_ += fmt::format("    <testcase classname=\"kvexact.{}\" name=\"{}\" time=\"0\"", MarkupText(name_),
                         MarkupText(test));
    text_ += body.empty() ? "/>\n" : ">\n" + body + "    </testcase>\n";
  }

  std::string name_;
  std::string text_;
  int tests_ = 0;
  int failures_ = 0;
  int errors_ = 0;
  int skipped_ = 0;
};

bool Right(const ReportRow& row) {
  const Tally sum = row.total();
  return sum.wrong + sum.unwritten + row.touched + row.unstable_elements() + row.errors + row.crashed == 0;
}

std::string RowMessage(const ReportRow& row) {
  const Tally sum = row.total();
  return fmt::format("{} wrong, {} touched, {} unwritten, {} unstable of {} elements in {} cases; {} crashed",
                     sum.wrong, row.touched, sum.unwritten, row.unstable_elements(), sum.elements(), row.cases,
                     row.errors + row.crashed);
}

std::string RowFailures(const Report& report, const ReportRow& row) {
  std::string text;
  std::size_t shown = 0;
  for (const Failure& failure : report.failures()) {
    if (failure.result.op != row.op || WindowClass(failure.result.window_rows) != row.rows) continue;
    if (shown++ < kShownFailures) text += FailureText(failure, report.description()) + "\n";
  }
  return text;
}

void AddRows(const Report& report, spec::Operation op, Suite& suite) {
  for (const ReportRow& row : report.rows()) {
    if (row.op != op) continue;
    const std::string name = row.rows == "-" ? "all cases" : "windows of " + row.rows + " rows";
    if (!Right(row)) {
      suite.Fail(name, row.errors + row.crashed > 0 ? "crashed" : "wrong", RowMessage(row), RowFailures(report, row));
    } else if (row.unsupported == row.cases) {
      suite.Skip(name, "not supported by the subject");
    } else {
      suite.Pass(name);
    }
  }
}

// What belongs to the whole run.
Suite RunSuite(const Report& report) {
  Suite suite("run");
  for (const auto& [reason, cases] : report.unsupported()) {
    suite.Skip("unsupported: " + reason, fmt::format("{} cases: {}", cases, reason));
  }
  for (const std::string& message : report.unreadable()) suite.Break("unreadable: " + message, message);
  for (const std::string& shard : report.parts().missing_shards) {
    suite.Fail("shard " + shard, "missing", "the shard's report is missing", "");
  }
  if (report.description().require_all) {
    for (const std::string& op : report.missing_operations()) {
      suite.Fail("required: " + op, "missing", "nothing of it was judged", "");
    }
    if (report.total().unsupported > 0) suite.Fail("required: every case", "missing", "some cases are unsupported", "");
  }
  const std::string message = RunText(report.description()) + ": " + SummaryLine(report);
  if (report.total().total().judged() == 0 && report.conclusion() == Conclusion::kNone) {
    suite.Fail("something was judged", "missing", message, "");
  } else {
    suite.Pass("something was judged");
  }
  return suite;
}

}  // namespace

std::string ReportJunit(const Report& report) {
  std::vector<Suite> suites = {RunSuite(report)};
  for (const spec::OperationRow& op : spec::kOperations) {
    Suite suite(op.name);
    AddRows(report, op.id, suite);
    if (suite.tests() > 0) suites.push_back(std::move(suite));
  }
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  std::string text;
  for (const Suite& suite : suites) {
    tests += suite.tests();
    failures += suite.failures();
    errors += suite.errors();
    skipped += suite.skipped();
    text += suite.Text(report.parts().started);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kvexact\" tests=\"{}\" failures=\"{}\" "
      "errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\">\n{}</testsuites>\n",
      tests, failures, errors, skipped, report.parts().seconds, text);
}

}  // namespace kvexact
