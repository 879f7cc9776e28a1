// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/report/explanation.h"

namespace kvexact::explain {

// A token and head of a Q operation; the request has been checked against the case.
void ExplainIndexerQ(const Case& c, const JudgeOptions& options, const ExplainRequest& request,
                     const TensorMap* outputs, Explanation& out);

}  // namespace kvexact::explain
