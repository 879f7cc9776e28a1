// SPDX-License-Identifier: Apache-2.0
// Which known faults explain several failures of one subject.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "harness/faults/diagnose.h"
#include "harness/run/case_result.h"

namespace kvexact {

// Failures with a fault in common.
struct CommonCause {
  std::vector<Suspect> suspects;      // each explains every byte of all of them, best first
  std::size_t tied = 0;               // the first so many explain them equally well
  std::vector<std::size_t> failures;  // indices of what was given
};

// Puts each failure, the smallest first, to the first cause that explains it, or looks through all faults for a new
// cause, `searches` times at most. Failures of more than 2^18 judged elements, which would take seconds, are left out.
// A fault that explains a failure by chance seldom explains the next: causes of less than three failures are dropped
// where they are less than a third of an operation's.
std::vector<CommonCause> FindCommonCauses(std::span<const Evidence* const> failures, const JudgeOptions& options,
                                          int searches);

}  // namespace kvexact
