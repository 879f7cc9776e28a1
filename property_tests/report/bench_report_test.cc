// SPDX-License-Identifier: Apache-2.0
#include "harness/report/bench_report.h"

#include <gtest/gtest.h>

namespace kvexact {
namespace {

using bench::Comparison;
using bench::Measurement;
using bench::Workloads;

constexpr const char* kStarted = "2026-01-31T12:00:00Z";

Comparison Of(std::size_t workload, double before, double now) {
  Comparison c{Workloads()[workload]};
  c.pairs.a_us.assign(50, before);
  c.pairs.b_us.assign(50, now);
  return c;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(BenchReport, MeasurementsAreTestCases) {
  const std::string junit =
      BenchJunit({{Workloads()[0], 5, 0.01, ""}, {Workloads()[1], 0, 0, "no <such> window"}}, kStarted);
  EXPECT_TRUE(Has(junit, R"(<testsuites name="kvexact" tests="2" failures="0" errors="0" skipped="1")")) << junit;
  EXPECT_TRUE(Has(junit, R"(<skipped message="no &lt;such&gt; window"/>)")) << junit;
  EXPECT_TRUE(Has(junit, "<testsuite name=\"bench." + Workloads()[0].kernel)) << junit;
}

TEST(BenchReport, SlowerAndAmbiguousFail) {
  Comparison moved = Of(2, 100, 150);
  moved.pairs.clocks_moved = true;
  const std::string junit = BenchJunit({Of(0, 100, 100), Of(1, 100, 120), moved, Of(3, 100, 50)}, kStarted);
  EXPECT_TRUE(Has(junit, R"(tests="4" failures="2" errors="0" skipped="0")")) << junit;
  EXPECT_TRUE(Has(junit, R"(<failure type="slower" message="100.00 us before, 120.00 us now; +20.00 us)")) << junit;
  EXPECT_TRUE(Has(junit, R"(<failure type="ambiguous")")) << junit;
}

TEST(BenchReport, ComparisonAsAPage) {
  Comparison unsupported{Workloads()[1]};
  unsupported.unsupported = "nothing here";
  const std::string html = ComparisonHtml({Of(0, 100, 50), unsupported});
  EXPECT_TRUE(Has(html, "faster")) << html;
  EXPECT_TRUE(Has(html, "-50.00")) << html;
  EXPECT_TRUE(Has(html, "unsupported: nothing here")) << html;
  EXPECT_TRUE(Has(html, "</html>"));
}

TEST(BenchReport, MarkdownKeepsTheTable) {
  const std::string text = "workload  us\na/b/1      3\n";
  const std::string markdown = BenchMarkdown("cuda on NVIDIA H200", text);
  EXPECT_TRUE(Has(markdown, "## kvexact bench: "));
  EXPECT_TRUE(Has(markdown, "a/b/1      3\n")) << markdown;
}

}  // namespace
}  // namespace kvexact
