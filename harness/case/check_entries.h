// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/case/case.h"

namespace kvexact {

// The second half of Check: every entry of positions, request indices, block table and slots that
// some token reads. Shapes and parameters must have been checked. Throws InputError.
void CheckCompressEntries(const Case& c);
void CheckIndexerQEntries(const Case& c);

}  // namespace kvexact
