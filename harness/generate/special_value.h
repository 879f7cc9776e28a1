// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "harness/generate/kinds.h"

namespace kvexact::generate {

// The value that a special puts among KV, scratch or Q values.
constexpr float SpecialValue(Special special) {
  if (special == Special::kNan) return std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  return special == Special::kNegInf ? -infinity : infinity;
}

}  // namespace kvexact::generate
