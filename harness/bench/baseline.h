// SPDX-License-Identifier: Apache-2.0
// Times beside those of another day. Machines, drivers and clocks differ between days: this warns and decides nothing.
#pragma once

#include <string>
#include <vector>

#include "harness/bench/measurement.h"
#include "harness/bench/peers.h"

namespace kvexact::bench {

// Slower by more than this share, after the difference of the two days' empty launches, is worth a line; so is anything
// beyond three times today's spread.
inline constexpr double kBaselineTolerance = 0.05;

// One line a workload that is slower than in the baseline, that it has and today's build does not run, or that it
// lacks; one before them if it was taken on another device. `baseline` is what `kvexact bench --json` wrote.
std::vector<std::string> CompareWithBaseline(const BenchDescription& description,
                                             const std::vector<Measurement>& measurements, const Peers& baseline);

}  // namespace kvexact::bench
