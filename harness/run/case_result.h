// SPDX-License-Identifier: Apache-2.0
// What became of one case.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.h"
#include "harness/judge/verdict.h"

namespace kvexact {

enum class CaseStatus : std::uint8_t {
  kJudged,
  kUnsupported,  // the subject said so
  kError,        // the subject answered with an error or threw
  kCrashed,      // the process that ran the subject ended, or hung
  kUnreadable,   // there was no usable case
};
const char* NameOf(CaseStatus status);

// What was judged: kept of cases that are not right, for a closer look.
struct Evidence {
  Case c;
  TensorMap before;
  TensorMap after;
};

struct CaseResult {
  std::string name;  // a file's path, or the spec's line
  CaseStatus status = CaseStatus::kJudged;
  std::string message;  // why, for every status but kJudged
  std::optional<spec::Operation> op;
  std::int64_t window_rows = 0;                         // of a compression that gathers, else 0
  CaseVerdict verdict;                                  // problems hold at most CaseVerdict::kMaxProblems
  std::array<std::int64_t, kElementKinds> differing{};  // elements whose value is not the strict model's, by kind
  std::array<std::int64_t, kElementKinds> unstable{};   // elements that differ between runs, by kind
  std::shared_ptr<const Evidence> evidence;             // of judged cases that are not right

  std::int64_t unstable_elements() const;
  // The subject did nothing that it should not; unsupported and unreadable cases are not its fault.
  bool right() const;
};

// A result with name, operation and window of the case.
CaseResult ResultFor(const Case& c);

}  // namespace kvexact
