// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/report/report.h"

namespace kvexact {

// The whole report for people, without the line for scripts. Ends with a line break.
std::string ReportText(const Report& report);

// One failing case: what is wrong, where, and the command that repeats it.
std::string FailureText(const Failure& failure, const RunDescription& description);

// "verdict=... cases=... ...", without a line break. `cases` counts every case that was run, also those that the
// subject did not support; `crashed` counts cases that ended in a crash or an error of the subject. tightness is in
// percent, over every kind but fp32.
std::string SummaryLine(const Report& report);

}  // namespace kvexact
