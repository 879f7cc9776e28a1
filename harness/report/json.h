// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/report/report.h"

namespace kvexact {

inline constexpr const char* kReportSchema = "kvexact-report/2";

// The report as JSON, schema kReportSchema: docs/report-schema.md, docs/report.schema.json.
std::string ReportJson(const Report& report);

// The inverse: prints as the same JSON. `source` is what errors call the text, a file's path. Throws InputError for
// text that is no such report.
Report ReadReportJson(const std::string& text, const std::string& source);

}  // namespace kvexact
