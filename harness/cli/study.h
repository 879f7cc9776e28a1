// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/faults/diagnose.h"
#include "harness/report/report.h"

namespace kvexact::cli {

// Puts the suspects that explain a failure equally well into it, if they are few, and their stage, if it is one.
void AddSuspects(const Diagnosis& diagnosis, Failure& failure);

// Names the known faults that explain a failure, of the first few failures that it is called for.
StudyFailure NameKnownFaults();

}  // namespace kvexact::cli
