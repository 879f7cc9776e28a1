// SPDX-License-Identifier: Apache-2.0
// Texts and tables that the explanations of both families of operations share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/judge/block_choice.h"
#include "harness/judge/candidates.h"
#include "harness/report/explanation.h"

namespace kvexact::explain {

// Nine digits, which tell fp32 values apart.
std::string Value(double value);
// The values that an implementation within the budget may hold.
std::string Enclosed(const EnclosedValue& value);
std::string Enclosed(const Enclosure::Row& row, int column);
// One candidate, or a range of them.
std::string CandidateText(const Candidates& candidates, int i);
// "exact", "allowed" or "wrong".
std::string FindingText(bool exact, bool member);

// A table with one line a requested column: strict value and enclosure after each stage. Stages add their column of
// cells in order.
class StageTable {
 public:
  explicit StageTable(const std::vector<int>& columns);
  void Add(const std::string& stage, const Strict::Row& strict, const Enclosure::Row& enclosed);
  ExplanationTable Finish() { return std::move(table_); }

 private:
  const std::vector<int>& columns_;
  ExplanationTable table_;
};

// Quantised columns [0, values.size()) of one token or head.
struct QuantisedColumns {
  const Stages& stages;
  const QuantiseRule& rule;
  SmallestFactor smallest;
  const Candidates& candidates;
  std::span<const float> values;  // of the strict model, before quantisation
  const std::uint8_t* expected;   // codes of the strict model
  const std::uint8_t* observed;   // codes that were stored, or null
  int block;                      // columns that share a scale
  // How the scale of block b is stored for exponent e; empty where none is.
  std::function<std::string(int b, int e)> stored_scale;
  std::function<std::string(int b)> observed_scale;
  // Whether exponent e agrees with what was stored besides the codes of block b.
  std::function<bool(int b, int e)> matches;
};

// Tables of the scales of the blocks that hold requested columns, and of these columns' codes. Returns the exponent
// under which the last of these blocks was judged; the strict one where nothing was observed.
int ExplainQuantised(const QuantisedColumns& q, const std::vector<int>& columns, Explanation& out);

}  // namespace kvexact::explain
