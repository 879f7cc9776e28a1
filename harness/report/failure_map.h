// SPDX-License-Identifier: Apache-2.0
// Where in its outputs a failing case is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

// Elements of one kind that stand side by side in a row of the map.
struct MapSection {
  ElementKind kind{};
  std::int64_t elements = 0;
};

// The elements of one token (of Q: of one head of it), section by section, a letter each:
// e exact, a allowed, w wrong, n not written, u unstable, o left open by the policy.
struct MapRow {
  std::int64_t token = 0;
  std::int64_t head = -1;
  std::string cells;
};

// Bytes [begin, end) of a buffer changed and must not.
struct TouchedRange {
  std::string buffer;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct FailureMap {
  static constexpr std::size_t kMaxRows = 24;
  static constexpr std::size_t kMaxRanges = 24;

  std::vector<MapSection> sections;
  std::vector<MapRow> rows;           // the first kMaxRows in which something is wrong
  std::int64_t more_wrong_rows = 0;   // that are left out
  std::int64_t right_rows = 0;        // that are left out
  std::vector<TouchedRange> touched;  // the first kMaxRanges
  std::int64_t more_touched_ranges = 0;
};

// The map of what was judged. `result` adds the elements that its problems name as unstable.
FailureMap MapOf(const Evidence& evidence, const JudgeOptions& options, const CaseResult& result);

// Cells as runs, "448e7w64e", and back. Throws InputError("map", "cells", ...) for text that is no run of known letters
// or stands for more than kMaxCells.
inline constexpr std::int64_t kMaxCells = 1 << 20;
std::string RunsOf(const std::string& cells);
std::string CellsOf(const std::string& runs);

}  // namespace kvexact
