// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/generate/case_spec.h"

namespace kvexact::test {

// A usable spec, drawn and then changed in settings and to values that Draw never chooses.
CaseSpec AnySpec(std::uint64_t seed);

}  // namespace kvexact::test
