// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/case/case.h"
#include "harness/generate/case_spec.h"

namespace kvexact {

// The case of a spec: a pure function, the same bytes on every machine and compiler. Its name is the
// spec's text; the notes `spec` and `dist` repeat text and value kinds for people. Whatever no live token
// reads is filled as spec.unread says, and outputs_before holds random bytes. The result passes
// Check(Case). Throws InputError if the spec does not pass Check.
Case Generate(const CaseSpec& spec);

}  // namespace kvexact
