// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/generate/case_spec.h"
#include "harness/generate/counter_hash.h"

namespace kvexact::generate {

// As deployed: ratio 4 with overlap or 128 without, usual blocks, pages and types.
Configuration ProductionConfiguration(spec::Operation op, Stream& stream);

// Where a configuration stands among those of a run.
struct Turn {
  std::int64_t rank;  // counts the configurations of the operation
  std::int64_t wild;  // counts the wild configurations of the operation's family
};

// Anything that the operation allows, most of it small. Ranks 1 and 2 together show every kind of padding and type, the
// others by chance; sizes go through their classes by turns, so that a run of 24 configurations has some of each.
Configuration WildConfiguration(spec::Operation op, const Turn& turn, Stream& stream);

}  // namespace kvexact::generate
