// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "harness/judge/verdict.h"

namespace kvexact {

// Counts an element that holds the only member of its set. Under another scale than the strict model's that
// member may not be the strict value: the element then had other values to choose from, and is not single.
inline void CountPlain(CaseVerdict& verdict, ElementKind kind, bool exact) {
  Tally& tally = verdict.tally(kind);
  if (exact) {
    ++tally.single;
    ++tally.exact;
  } else {
    ++tally.allowed;
  }
}

// Counts one judged element and, if it is wrong, records it. `describe` is called only then and fills
// a Problem's place and texts.
template <class Describe>
void CountElement(CaseVerdict& verdict, ElementKind kind, bool exact, bool member, bool unchanged, int members,
                  const Describe& describe) {
  Tally& tally = verdict.tally(kind);
  if (members == 1 && (exact || !member)) ++tally.single;
  if (exact && member) {
    ++tally.exact;
    return;
  }
  if (member) {
    ++tally.allowed;
    return;
  }
  if (unchanged) {
    ++tally.unwritten;
  } else {
    ++tally.wrong;
  }
  if (verdict.problems.size() >= verdict.max_problems) return;
  Problem problem;
  problem.what = unchanged ? Problem::What::kUnwritten : Problem::What::kWrong;
  problem.kind = kind;
  describe(problem);
  verdict.problems.push_back(std::move(problem));
}

// Judges the elements of one token (of Q: of one head of it) and counts it if one is wrong or unwritten.
template <class JudgeElements>
void CountRow(CaseVerdict& verdict, const JudgeElements& judge_elements) {
  const auto misses = [&] {
    std::int64_t sum = 0;
    for (const Tally& tally : verdict.tallies) sum += tally.wrong + tally.unwritten;
    return sum;
  };
  const std::int64_t before = misses();
  judge_elements();
  if (misses() > before) ++verdict.wrong_rows;
}

}  // namespace kvexact
