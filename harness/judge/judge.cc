// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/judge.h"

#include "harness/judge/compress_judge.h"
#include "harness/judge/indexer_q_judge.h"
#include "harness/judge/written_bytes.h"

namespace kvexact {

CaseVerdict Judge(const Case& c, const JudgeOptions& options, const TensorMap& before, const TensorMap& after) {
  CaseVerdict verdict;
  if (c.row().family == spec::Family::kIndexerQ) {
    JudgeIndexerQ(c, options, before, after, verdict);
  } else {
    JudgeCompress(c, options, before, after, verdict);
  }
  CheckUntouched(WrittenBytes(c, *options.stages), before, after, verdict);
  return verdict;
}

}  // namespace kvexact
