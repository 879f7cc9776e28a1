// SPDX-License-Identifier: Apache-2.0
// Elements that were not written, or that differ from run to run.
#pragma once

#include <array>
#include <cstdint>

#include "harness/case/case.h"
#include "harness/judge/judge.h"
#include "harness/judge/written_bytes.h"
#include "harness/run/case_result.h"

namespace kvexact {

// One run: what the buffers held before it and after it.
struct RunOutputs {
  TensorMap before;
  TensorMap after;
};

// The runs of one case; their fills are poisons with different masks.
struct CaseRuns {
  RunOutputs first;
  RunOutputs second;
  std::optional<RunOutputs> reordered;  // the tokens in another order, rows put back
};

// Elements in which the first run stored by chance what its buffer held: the second, whose buffer held something else,
// stored the same. Inverts them in the first run's `before`, so that its judge sees that they were written; returns
// whether there was any.
bool MarkWrittenByChance(const Case& c, const Stages& stages, CaseRuns& runs);

// Completes a result whose verdict is the judge's of the first run:
// - an element that kept its poison in the first and the second run is unwritten, also where the judge found it
//   allowed (the poison happens to be a member) or left it open;
// - any other element whose value differs between runs is unstable, unless the policy leaves its token open;
// - bytes touched in a later run count where it touched more than the runs before it.
void CompareRuns(const Case& c, const Stages& stages, const ByteRanges& written, const CaseRuns& runs,
                 CaseResult& result);

}  // namespace kvexact
