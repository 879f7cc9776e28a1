// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/generate/case_spec.h"
#include "harness/generate/counter_hash.h"

namespace kvexact::generate {

// As deployed: ratio 4 with overlap or 128 without, usual blocks, pages and types.
Configuration ProductionConfiguration(spec::Operation op, Stream& stream);

// Anything that the operation allows, most of it small. `rank` counts the configurations of the operation
// in a run: ranks 1 and 2 together show every kind of padding and type, the others by chance.
Configuration WildConfiguration(spec::Operation op, std::int64_t rank, Stream& stream);

}  // namespace kvexact::generate
