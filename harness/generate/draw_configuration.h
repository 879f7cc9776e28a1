// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/generate/case_spec.h"
#include "harness/generate/counter_hash.h"

namespace kvexact::generate {

// As deployed: ratio 4 with overlap or 128 without, usual blocks, pages and types.
Configuration ProductionConfiguration(spec::Operation op, Stream& stream);

// Anything that the operation allows, most of it small.
Configuration WildConfiguration(spec::Operation op, Stream& stream);

}  // namespace kvexact::generate
