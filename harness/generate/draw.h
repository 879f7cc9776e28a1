// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "harness/generate/case_spec.h"

namespace kvexact {

// What a run draws its cases from.
struct DrawSettings {
  std::vector<spec::Operation> operations;  // at least one
  std::uint64_t seed = 1;
  std::int64_t max_configs = 24;  // at least 1: configurations in the run
  std::int64_t size = 1;          // at least 1: work a case, as a multiple of a few tokens
};

// The configurations of a run, max_configs of them, each operation in turn; the first of an operation
// is a production one. A pure function of the settings.
std::vector<Configuration> Configurations(const DrawSettings& settings);

// Case number `index` of a run: a pure function of the settings and the index, so shards draw disjoint
// cases and together the whole run. Every max_configs cases in a row use every configuration once.
// The spec passes Check. KV-skipped tokens keep sound metadata (garbage is never `all`), since the
// kernels that the operations come from gather before they look at the KV slot.
CaseSpec Draw(const DrawSettings& settings, std::uint64_t index);

}  // namespace kvexact
