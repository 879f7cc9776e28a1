// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/bench/limits.h"
#include "harness/bench/peers.h"
#include "harness/bench/workload_row.h"

namespace kvexact::bench {

// One workload on one implementation.
struct Measurement {
  WorkloadRow row;
  double us = 0;            // median of the replays
  double spread = 0;        // interquartile range of the replays over their median
  std::string unsupported;  // why there is no time; empty: there is one
};

// What was measured with, for the reader of the times.
struct BenchDescription {
  std::string backend;
  std::string version;
  std::string device;
  Limits limits;
};

// Median; of an even number, the upper of the two in the middle. `values` is not empty.
double Median(std::vector<double> values);
// (75th - 25th percentile) / median.
double RelativeSpread(std::vector<double> values);

// A table with one line a workload: limit, time, limit over time, microseconds above an empty launch, and the peer's.
std::string MeasurementText(const BenchDescription& description, const std::vector<Measurement>& measurements,
                            const Peers& peers);

// One JSON object a line: the fields of the peers' lines, and spread; the empty launch, which names the device, and the
// copy first.
std::string MeasurementJson(const BenchDescription& description, const std::vector<Measurement>& measurements);

}  // namespace kvexact::bench
