// SPDX-License-Identifier: Apache-2.0
// Times libraries with the C interface on the workloads, on CUDA device 0.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/bench/comparison.h"
#include "harness/bench/measurement.h"
#include "harness/bench/workload_row.h"

namespace kvexact::bench {

// There is no CUDA device to time on.
class NoDevice : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct BenchSettings {
  std::vector<WorkloadRow> rows;
  int rounds = 50;  // timed replays of a workload, behind a fifth as many that are not counted
  // Called after each workload with what came of it; progress.
  std::function<void(const std::string& workload, double us)> done = [](const std::string&, double) {};
};

struct BenchResult {
  BenchDescription description;
  std::vector<Measurement> measurements;
};

// Every replay is one launch in a CUDA graph, timed by events from an L2 that was filled with clean foreign lines by
// reading, on inputs that take turns. Throws InputError for a library that cannot be used, NoDevice, and
// std::runtime_error where the device or the library fails.
BenchResult Measure(const std::string& library, const BenchSettings& settings);

// Both libraries on the same inputs, in turn. Throws as Measure.
std::vector<Comparison> Compare(const std::string& library_a, const std::string& library_b,
                                const BenchSettings& settings);

}  // namespace kvexact::bench
