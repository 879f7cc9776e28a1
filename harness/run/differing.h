// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/case/case.h"
#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

// Fills result.differing: elements whose value is not the strict model's. Zeros are one value, and so are the NaNs of a
// bf16 or fp32 element; tokens that the policy leaves open do not count. `strict` and `after` hold what the model and
// the subject stored.
void CountDiffering(const Case& c, const Stages& stages, const TensorMap& strict, const TensorMap& after,
                    CaseResult& result);

}  // namespace kvexact
