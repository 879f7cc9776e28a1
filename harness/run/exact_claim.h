// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/case/case.h"
#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

// For a subject that claims to equal the strict model byte for byte: elements that the judge found allowed are wrong,
// and described as such. `strict` and `after` hold what the model and the subject stored.
void HoldToExactClaim(const Case& c, const Stages& stages, const TensorMap& strict, const TensorMap& after,
                      CaseResult& result);

}  // namespace kvexact
