// SPDX-License-Identifier: Apache-2.0
#include "property_tests/run/small_specs.h"

#include "harness/generate/generate.h"

namespace kvexact {

Case SmallCase(const SmallSpec& spec) { return Generate(ParseSpec(spec.text)); }

}  // namespace kvexact
