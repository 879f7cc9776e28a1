// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/bench/clock_record.h"
#include "harness/bench/paired_rounds.h"
#include "harness/bench/workload_row.h"

namespace kvexact::bench {

// One workload on two implementations.
struct Comparison {
  WorkloadRow row;
  PairedRounds pairs = {};
  ClockRecord clocks = {};
  std::string unsupported = {};  // why there are no rounds; empty: there are
};

// What comparisons come to for B: the worst of the workloads' decisions.
enum class Outcome { kNotSlower, kSlower, kAmbiguous, kNothing };
Outcome OutcomeOf(const std::vector<Comparison>& comparisons);

// A table with one line a workload: both medians, what B takes over what A takes, the decision, the clocks.
std::string ComparisonText(const std::vector<Comparison>& comparisons);

// The same as one JSON object a line, with the rounds.
std::string ComparisonJson(const std::vector<Comparison>& comparisons);

}  // namespace kvexact::bench
