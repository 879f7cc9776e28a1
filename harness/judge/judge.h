// SPDX-License-Identifier: Apache-2.0
// The judge: element by element, is what an implementation stored exact, allowed or wrong, and did
// anything change that must not.
#pragma once

#include "harness/case/case.h"
#include "harness/judge/verdict.h"
#include "reference/numerics/budget.h"
#include "reference/numerics/policy.h"
#include "reference/stages/stages.h"

namespace kvexact {

struct JudgeOptions {
  const Stages* stages = &SeedStages();
  const Policy* policy = &SeedPolicy();
  const Budget* budget = &DefaultBudget();
  std::size_t max_problems = CaseVerdict::kMaxProblems;  // that a verdict holds
};

// `before` is what the output buffers held when the run began, `after` what they hold now; both have
// the shapes of c.outputs_before. The case must have passed Check. Under a budget that admits flushing, a
// launch is judged without it first, and with it only if that does not explain every element.
CaseVerdict Judge(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after);

}  // namespace kvexact
