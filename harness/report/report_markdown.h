// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/report/report.h"

namespace kvexact {

// The report as Markdown for the summary page of a CI job: under 200,000 characters, whatever was found.
std::string ReportMarkdown(const Report& report);

}  // namespace kvexact
