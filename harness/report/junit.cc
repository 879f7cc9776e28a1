// SPDX-License-Identifier: Apache-2.0
#include "harness/report/junit.h"

#include <fmt/format.h>

#include "harness/report/junit_suite.h"
#include "harness/report/text.h"
#include "harness/report/totals.h"

namespace kvexact {
namespace {

constexpr std::size_t kShownFailures = 20;  // of one test case
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

void AddRows(const Report& report, spec::Operation op, JunitSuite& suite) {
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
JunitSuite RunSuite(const Report& report) {
  JunitSuite suite("run");
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
  std::vector<JunitSuite> suites = {RunSuite(report)};
  for (const spec::OperationRow& op : spec::kOperations) {
    JunitSuite suite(op.name);
    AddRows(report, op.id, suite);
    suites.push_back(std::move(suite));
  }
  return JunitDocument(suites, report.parts().started, report.parts().seconds);
}

}  // namespace kvexact
