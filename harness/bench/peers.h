// SPDX-License-Identifier: Apache-2.0
// Times of other implementations on the same workloads: one JSON object a line, with the fields kernel, mode, tokens,
// bytes and us. The rows "empty" and "copy" hold what an empty launch and a copy of `bytes` took; "empty" may name the
// device.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/limits.h"
#include "harness/bench/workload_row.h"

namespace kvexact::bench {

struct PeerRow {
  std::string kernel;
  std::string mode;
  std::int64_t tokens = 0;
  double us = 0;
};

struct Peers {
  std::vector<PeerRow> rows;
  std::optional<Limits> limits;  // where both rows are there
  std::string device;            // empty: not named

  // The time of the faster row that does this work; a two-stage path ("..._two_stage") does the same as the single one.
  std::optional<double> Best(const WorkloadRow& row) const;
};

// Throws InputError with the line and the field.
Peers ReadPeers(const std::string& path);

}  // namespace kvexact::bench
