// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/report/explanation.h"

namespace kvexact::explain {

// A token of a compression operation; the request has been checked against the case.
void ExplainCompress(const Case& c, const JudgeOptions& options, const ExplainRequest& request,
                     const TensorMap* outputs, Explanation& out);

}  // namespace kvexact::explain
