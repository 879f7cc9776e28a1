// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/judge/judge.h"

namespace kvexact {

// Judges every element that a compression operation stores: cache elements, or scratch rows.
void JudgeCompress(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after,
                   CaseVerdict& verdict);

}  // namespace kvexact
