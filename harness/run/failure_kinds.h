// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bitset>

#include "harness/run/case_result.h"

namespace kvexact {

// In which ways a case is not right, one bit each: for every element kind wrong, unwritten and unstable; touched bytes;
// an error; a crash. None if it is right.
using FailureKinds = std::bitset<3 * kElementKinds + 3>;
FailureKinds KindsOf(const CaseResult& result);

}  // namespace kvexact
