// SPDX-License-Identifier: Apache-2.0
#include "harness/report/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/bench/gate.h"
#include "harness/case/input_error.h"
#include "harness/report/html_page.h"
#include "harness/report/junit_suite.h"
#include "harness/report/markup.h"

namespace kvexact {
namespace {

using bench::Comparison;
using bench::Decision;
using bench::Gate;
using bench::Measurement;

// The suite of the row's kernel; rows of a kernel follow each other.
JunitSuite& SuiteOf(const bench::WorkloadRow& row, std::vector<JunitSuite>& suites, std::string& kernel) {
  if (suites.empty() || kernel != row.kernel) suites.emplace_back("bench." + row.kernel);
  kernel = row.kernel;
  return suites.back();
}

std::string TestName(const bench::WorkloadRow& row) { return row.mode + " " + std::to_string(row.tokens); }

std::string GateText(const Comparison& c, const Gate& gate) {
  return fmt::format("{:.2f} us before, {:.2f} us now; {:+.2f} us, interval [{:.2f}, {:.2f}], tolerance {:.2f}{}",
                     bench::Median(c.pairs.a_us), bench::Median(c.pairs.b_us), gate.median_us, gate.low_us,
                     gate.high_us, gate.tolerance_us, c.pairs.clocks_moved ? "; clocks moved" : "");
}

}  // namespace

std::string BenchJunit(const std::vector<Measurement>& measurements, const std::string& started) {
  std::vector<JunitSuite> suites;
  std::string kernel;
  for (const Measurement& m : measurements) {
    JunitSuite& suite = SuiteOf(m.row, suites, kernel);
    if (m.unsupported.empty()) {
      suite.Pass(TestName(m.row));
    } else {
      suite.Skip(TestName(m.row), m.unsupported);
    }
  }
  return JunitDocument(suites, started, 0);
}

std::string BenchJunit(const std::vector<Comparison>& comparisons, const std::string& started) {
  std::vector<JunitSuite> suites;
  std::string kernel;
  for (const Comparison& c : comparisons) {
    JunitSuite& suite = SuiteOf(c.row, suites, kernel);
    if (!c.unsupported.empty()) {
      suite.Skip(TestName(c.row), c.unsupported);
      continue;
    }
    const Gate gate = bench::Decide(c.pairs);
    if (gate.decision == Decision::kSame || gate.decision == Decision::kFaster) {
      suite.Pass(TestName(c.row));
    } else {
      suite.Fail(TestName(c.row), NameOf(gate.decision), GateText(c, gate), "");
    }
  }
  return JunitDocument(suites, started, 0);
}

std::string BenchMarkdown(const std::string& title, const std::string& text) {
  std::string markdown = fmt::format("## kvexact bench: {}\n\n", MarkdownText(title));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    markdown += "    " + Printable(std::string_view(text).substr(begin, end - begin), 400) + "\n";
    begin = end + 1;
  }
  return markdown;
}

std::string ComparisonHtml(const std::vector<Comparison>& comparisons) {
  std::vector<std::vector<std::string>> lines;
  for (const Comparison& c : comparisons) {
    if (!c.unsupported.empty()) {
      lines.push_back({c.row.Name(), "unsupported: " + c.unsupported});
      continue;
    }
    const Gate gate = bench::Decide(c.pairs);
    const std::string clocks = c.clocks.highest_mhz == 0
                                   ? "-"
                                   : fmt::format("{} to {} MHz{}", c.clocks.lowest_mhz, c.clocks.highest_mhz,
                                                 c.pairs.clocks_moved ? ", moved" : "");
    lines.push_back({c.row.Name(), NameOf(gate.decision), fmt::format("{:.2f}", bench::Median(c.pairs.a_us)),
                     fmt::format("{:.2f}", bench::Median(c.pairs.b_us)), fmt::format("{:+.2f}", gate.median_us),
                     fmt::format("[{:.2f}, {:.2f}]", gate.low_us, gate.high_us),
                     fmt::format("{:.2f}", gate.tolerance_us), clocks});
  }
  return HtmlPage(
      "kvexact: comparison",
      "<h1>Is it slower?</h1>\n<p>Microseconds; the median difference of neighbouring rounds lies in the "
      "interval with 99.99 % confidence.</p>\n" +
          HtmlTable({"workload", "decision", "before", "now", "more", "interval", "tolerance", "clocks"}, lines, 2));
}

}  // namespace kvexact
