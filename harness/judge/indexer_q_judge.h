// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/judge/judge.h"

namespace kvexact {

// Judges codes, scales (MXFP4) and folded weights of every head of every token below num_actual.
void JudgeIndexerQ(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after,
                   CaseVerdict& verdict);

}  // namespace kvexact
