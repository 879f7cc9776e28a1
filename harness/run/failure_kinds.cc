// SPDX-License-Identifier: Apache-2.0
#include "harness/run/failure_kinds.h"

namespace kvexact {

FailureKinds KindsOf(const CaseResult& result) {
  FailureKinds kinds;
  std::size_t bit = 0;
  const bool judged = result.status == CaseStatus::kJudged;
  for (std::size_t k = 0; k < kElementKinds; ++k) {
    const Tally& tally = result.verdict.tallies[k];
    kinds.set(bit++, judged && tally.wrong > 0);
    kinds.set(bit++, judged && tally.unwritten > 0);
    kinds.set(bit++, judged && result.unstable[k] > 0);
  }
  kinds.set(bit++, judged && result.verdict.touched > 0);
  kinds.set(bit++, result.status == CaseStatus::kError);
  kinds.set(bit++, result.status == CaseStatus::kCrashed);
  return kinds;
}

}  // namespace kvexact
