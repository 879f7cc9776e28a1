// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/faults/diagnose.h"
#include "harness/report/report.h"

namespace kvexact::cli {

// The first `tied` suspects, which explain failure i of the report equally well, and their stage, if it is one. If they
// are many, nothing: they say nothing.
void SetSuspects(const std::vector<Suspect>& suspects, std::size_t tied, std::size_t i, Report& report);

// Names the known faults that explain the report's first failures, those that still have their evidence.
void NameKnownFaults(const JudgeOptions& options, Report& report);

}  // namespace kvexact::cli
