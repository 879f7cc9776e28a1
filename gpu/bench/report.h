// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvexact::gpu::bench {

// One measurement; the fields of the peers' JSON lines.
struct Row {
  std::string kernel;
  std::string mode;
  std::string variant;  // strict, fast or probe; peers have none
  std::int64_t tokens = 0;
  std::int64_t compressed = 0;
  std::int64_t bytes = 0;
  double us = 0;
};

// What moving bytes once costs: an empty launch, and a copy's bytes a second.
struct Limits {
  double empty_us = 0;
  double bandwidth = 0;
  double For(std::int64_t bytes) const { return empty_us + static_cast<double>(bytes) / bandwidth * 1e6; }
};

std::string JsonLine(const Row& row, const Limits& limits);

// The peers' rows; their empty launch and copy improve `limits` where they are better. Throws std::runtime_error.
std::vector<Row> ReadPeers(const std::string& path, Limits& limits);

// Every workload once: ours, other variants, the best peer, and their ratios under the same limits.
void PrintTable(const std::vector<Row>& rows, const std::vector<Row>& peers, const Limits& limits);

}  // namespace kvexact::gpu::bench
