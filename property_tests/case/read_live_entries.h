// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/case/case.h"

namespace kvexact::test {

// Reads every input that a live token reads and every output byte that it writes, through the bindings,
// and returns a hash of them. A sanitizer finds what Check should have refused.
std::uint64_t ReadLiveEntries(const Case& c);

}  // namespace kvexact::test
