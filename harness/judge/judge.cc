// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/judge.h"

#include "harness/judge/compress_judge.h"
#include "harness/judge/indexer_q_judge.h"
#include "harness/judge/written_bytes.h"

namespace kvexact {

namespace {

CaseVerdict JudgeOnce(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after) {
  CaseVerdict verdict;
  verdict.max_problems = options.max_problems;
  if (c.row().family == spec::Family::kIndexerQ) {
    JudgeIndexerQ(c, options, before, after, verdict);
  } else {
    JudgeCompress(c, options, before, after, verdict);
  }
  return verdict;
}

}  // namespace

CaseVerdict Judge(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after) {
  Budget unflushed = *options.budget;
  unflushed.flush = false;
  JudgeOptions first = options;
  first.budget = &unflushed;
  CaseVerdict verdict = JudgeOnce(c, first, before, after);
  if (options.budget->flush && !verdict.right()) {
    CaseVerdict flushed = JudgeOnce(c, options, before, after);
    if (flushed.right() ||
        flushed.total().wrong + flushed.total().unwritten < verdict.total().wrong + verdict.total().unwritten) {
      verdict = std::move(flushed);
    }
  }
  CheckUntouched(WrittenBytes(c, *options.stages), before, after, verdict);
  return verdict;
}

}  // namespace kvexact
