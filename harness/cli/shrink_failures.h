// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "harness/backend/backend.h"
#include "harness/judge/judge.h"
#include "harness/report/report.h"

namespace kvexact::cli {

// Shrinks the report's failures of drawn cases, the first of each operation and first way to fail, each for an equal
// share of what is left of `time`; shows progress.
void ShrinkFailures(Backend& subject, const JudgeOptions& options, std::chrono::steady_clock::duration time, bool quiet,
                    Report& report);

}  // namespace kvexact::cli
