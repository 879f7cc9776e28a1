// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/report/explanation.h"
#include "harness/report/report.h"

namespace kvexact {

// No page is larger, in bytes.
inline constexpr std::size_t kMaxHtml = 950'000;

// The report as one page (html_page.h): verdict, environment, the table of operations, and for each failure a map of
// where it is wrong, the stage, the values, the known fault and the command that repeats it. Failures that were not
// studied, and those that no longer fit, are a line each.
std::string ReportHtml(const Report& report);

// An explanation as one page. `heading` says of what, in plain text; `lines` are further lines of it.
std::string ExplanationHtml(const Explanation& explanation, const std::string& heading,
                            const std::vector<std::string>& lines);

// Map of a failure as inline SVG, with its texts.
std::string MapHtml(const FailureMap& map);

}  // namespace kvexact
