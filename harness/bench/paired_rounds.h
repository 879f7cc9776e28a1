// SPDX-License-Identifier: Apache-2.0
// What a comparison of two implementations measures, and what the gate decides from.
#pragma once

#include <string>
#include <vector>

namespace kvexact::bench {

// One workload, timed on two implementations in turn on the same machine. a_us[i] and b_us[i] are the microseconds of
// round i, one replay each, neighbours in time; which of the two goes first alternates. Both have the same length.
struct PairedRounds {
  std::string workload;  // such as "sparse_c4/decode/512"
  std::vector<double> a_us;
  std::vector<double> b_us;
  bool clocks_moved = false;  // the clock changed between rounds, or the device slowed itself down
};

}  // namespace kvexact::bench
