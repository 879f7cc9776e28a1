// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "harness/bench/peers.h"

namespace kvexact {

// Times of one implementation, as `kvexact bench --json` writes them, and what to call it.
struct BenchSeries {
  std::string name;
  bench::Peers times;
};

// One page (html_page.h) of times on the benchmark's workloads: a roofline (bytes that must move a second over bytes,
// under what an empty launch and a copy allow) and each workload's limit over its time. The limits are the best of the
// series. Throws InputError if no series has limits, or none has a time of a known workload.
std::string BenchHtml(const std::vector<BenchSeries>& series);

}  // namespace kvexact
