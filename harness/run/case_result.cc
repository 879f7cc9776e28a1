// SPDX-License-Identifier: Apache-2.0
#include "harness/run/case_result.h"

#include <numeric>

namespace kvexact {

const char* NameOf(CaseStatus status) {
  static constexpr const char* kNames[] = {"judged", "unsupported", "error", "crashed", "unreadable"};
  return kNames[static_cast<int>(status)];
}

std::int64_t CaseResult::unstable_elements() const {
  return std::accumulate(unstable.begin(), unstable.end(), std::int64_t{0});
}

bool CaseResult::right() const {
  switch (status) {
    case CaseStatus::kJudged:
      return verdict.right() && unstable_elements() == 0;
    case CaseStatus::kError:
    case CaseStatus::kCrashed:
      return false;
    case CaseStatus::kUnsupported:
    case CaseStatus::kUnreadable:
      return true;
  }
  return true;
}

CaseResult ResultFor(const Case& c) {
  CaseResult result;
  result.name = c.name;
  result.op = c.op;
  if (c.row().reads_state) result.window_rows = c.params.compress_ratio * (c.params.overlap ? 2 : 1);
  return result;
}

}  // namespace kvexact
