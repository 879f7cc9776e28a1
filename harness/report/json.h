// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/report/report.h"

namespace kvexact {

// The report in the schema "kvexact-report/1" (docs/report-schema.md), indented, with a final line break.
std::string ReportJson(const Report& report);

}  // namespace kvexact
