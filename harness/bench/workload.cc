// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/workload.h"

namespace kvexact::bench {

StatePool::StatePool() : memory_(kBytes) { FillNormal(data(), kBytes / 4, 1); }

Workload MakeWorkload(const WorkloadRow& row, const StatePool& pool) {
  Workload workload;
  for (std::uint64_t set = 1; set <= kInputSets; ++set) {
    workload.push_back(row.ratio == 0 ? MakeIndexerQLaunch(row, set) : MakeCompressLaunch(row, pool, set));
  }
  return workload;
}

}  // namespace kvexact::bench
