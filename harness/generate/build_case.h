// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/case/case.h"
#include "harness/generate/case_spec.h"

namespace kvexact::generate {

// Fill in parameters, inputs and outputs_before of a case whose spec passes Check.
void BuildCompressCase(const CaseSpec& spec, Case& c);
void BuildIndexerQCase(const CaseSpec& spec, Case& c);

}  // namespace kvexact::generate
