// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

// The named budgets, other than the one in `options`, whose allowed sets hold every element of the evidence.
std::vector<std::string> AdmittingBudgets(const Evidence& evidence, const JudgeOptions& options);

}  // namespace kvexact
