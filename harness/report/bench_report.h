// SPDX-License-Identifier: Apache-2.0
// What `kvexact bench` found, for a CI's list of tests, its summary page, and people.
#pragma once

#include <string>
#include <vector>

#include "harness/bench/comparison.h"
#include "harness/bench/measurement.h"

namespace kvexact {

// `started` is UTC as ReportParts::started. JUnit: a suite a kernel, a test case a workload; unsupported ones are
// skipped, one that is slower fails, as does one where that cannot be told ("ambiguous").
std::string BenchJunit(const std::vector<bench::Measurement>& measurements, const std::string& started);
std::string BenchJunit(const std::vector<bench::Comparison>& comparisons, const std::string& started);

// `text` is what the program prints; its lines become a block of code.
std::string BenchMarkdown(const std::string& title, const std::string& text);

// One page (html_page.h) with a line a workload. Times are drawn by BenchHtml (bench_page.h).
std::string ComparisonHtml(const std::vector<bench::Comparison>& comparisons);

}  // namespace kvexact
