// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/report/report.h"

namespace kvexact {

// A report and what errors call it, a file's path.
struct NamedReport {
  std::string name;
  Report report;
};

// One report of a run's shards. Shards that no report covers are listed as missing: the conclusion is then at best
// "none". Throws InputError unless the reports are disjoint shards of one run: same command, subject, operations, seed,
// cases, configurations, policy, budget, requirements and revision of kvexact.
Report MergeReports(const std::vector<NamedReport>& reports);

// The same for the parts that `devices` processes made of one shard (of a whole run: 0/1). None may be missing.
Report MergeParts(const std::vector<NamedReport>& reports, const Shard& whole);

// Part `part` of `parts` of a shard: together they are its cases.
Shard PartOf(const Shard& shard, std::int64_t part, std::int64_t parts);

}  // namespace kvexact
