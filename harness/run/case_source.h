// SPDX-License-Identifier: Apache-2.0
// Where the cases of a run come from.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/case/case.h"
#include "harness/generate/draw.h"

namespace kvexact {

// Cases 0 .. count - 1. Both functions may be called from several threads at once.
struct CaseSource {
  std::int64_t count = 0;
  std::function<std::string(std::int64_t)> name;  // the spec's line, or the file's path
  std::function<Case(std::int64_t)> load;         // throws InputError
};

// Part `index` of `count`: the cases whose number is index modulo count.
struct Shard {
  std::int64_t index = 0;
  std::int64_t count = 1;
};

// The shard's share of the first `cases` cases that the settings draw. The shards of a run are disjoint and together
// the whole run.
CaseSource DrawnCases(const DrawSettings& settings, std::int64_t cases, const Shard& shard);

// One case a line of text, as ToText(CaseSpec) prints it. Throws InputError if a line is no usable spec.
CaseSource SpecCases(const std::vector<std::string>& lines);

// Case files, in the order given.
CaseSource FileCases(std::vector<std::string> paths);

}  // namespace kvexact
