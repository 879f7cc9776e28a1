// SPDX-License-Identifier: Apache-2.0
// One token through every stage of its operation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/case/case.h"
#include "harness/judge/judge.h"

namespace kvexact {

struct ExplanationTable {
  std::string title;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> lines;
};

struct Explanation {
  std::vector<std::string> facts;  // which way the token takes, one sentence each
  std::vector<ExplanationTable> tables;
};

// What to look at. Columns are those of the head: values before quantisation.
struct ExplainRequest {
  std::int64_t token = 0;
  std::int64_t head = 0;     // of Q; 0 otherwise
  std::vector<int> columns;  // in the order in which they are shown
};

// Exits, gathered rows with their physical blocks, and of the asked-for columns scores, weights, compressed value,
// norm, rotation, and with the judge's options the enclosures, scales, codes and allowed sets. `outputs` is what an
// implementation stored, or null. The case must have passed Check. Throws InputError(c.name, ...) for a token, head or
// column that the case does not have.
Explanation Explain(const Case& c, const JudgeOptions& options, const ExplainRequest& request,
                    const TensorMap* outputs);

// Columns of the token's (or head's) elements that are wrong or unwritten, at most `most`, ascending.
std::vector<int> FaultyColumns(const Case& c, const CaseVerdict& verdict, std::int64_t token, std::int64_t head,
                               std::size_t most);

// Facts and tables for people; ends with a line break.
std::string ExplanationText(const Explanation& explanation);

}  // namespace kvexact
