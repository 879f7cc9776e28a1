// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "harness/generate/kinds.h"

namespace kvexact::generate {

// Which row is filled: its stream, and its place among the rows of its kind (for kinds that go by turns).
struct RowKey {
  std::uint64_t stream;  // differs from row to row
  std::int64_t index;    // position of a state row, head of Q, ...
};

// Fills a row of values; `group` consecutive elements share a scale. Element i depends on kind, row,
// group and i alone.
void FillValues(ValueKind kind, const RowKey& row, std::int64_t group, std::span<float> out);

// The place of a score row within the windows that read it.
struct ScoreRow {
  std::uint64_t stream;    // differs from row to row
  std::uint64_t case_key;  // the same for all rows of a case
  bool ends_window;        // the last row of some window
  bool dominant;           // carries all the weight where the kind is drive
};
void FillScores(ScoreKind kind, const ScoreRow& row, std::span<float> out);

// A row of `rope` / 2 cosines, then as many sines.
void FillAngles(AngleKind kind, std::uint64_t stream, std::int64_t rope, std::span<float> out);

}  // namespace kvexact::generate
