// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/report/report.h"

namespace kvexact {

// The report as JUnit XML. A test suite is an operation, a test case a class of windows, so that names are the same
// from run to run; its failure holds the failing cases. Cases that the subject does not support are skipped test cases,
// by reason; unreadable files are errors; what was required and not judged, and missing shards, are failures.
std::string ReportJunit(const Report& report);

}  // namespace kvexact
