// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/bench/device.h"
#include "harness/bench/device_launch.h"
#include "harness/bench/workload_row.h"

namespace kvexact::bench {

// Several launches of the same work on different inputs, which replays take in turn.
using Workload = std::vector<std::unique_ptr<DeviceLaunch>>;
inline constexpr int kInputSets = 3;

// State that all compression workloads share: normal values. A workload's state blocks are a random permutation of as
// many of the pool's blocks as it needs.
class StatePool {
 public:
  static constexpr std::int64_t kBytes = 24'000'000'000;
  StatePool();
  float* data() const { return static_cast<float*>(memory_.data()); }

 private:
  Memory memory_;
};

Workload MakeWorkload(const WorkloadRow& row, const StatePool& pool);

std::unique_ptr<DeviceLaunch> MakeCompressLaunch(const WorkloadRow& row, const StatePool& pool, std::uint64_t seed);
std::unique_ptr<DeviceLaunch> MakeIndexerQLaunch(const WorkloadRow& row, std::uint64_t seed);

}  // namespace kvexact::bench
