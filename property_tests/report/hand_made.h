// SPDX-License-Identifier: Apache-2.0
// Results written by hand.
#pragma once

#include <string>

#include "harness/report/report.h"

namespace kvexact {

inline RunDescription HandMadeDescription() {
  RunDescription description;
  description.command = "verify";
  description.subject = "mine";
  description.version = "2.1";
  description.device = "H200";
  description.policy = "seed";
  description.budget = "default";
  description.seed = 7;
  return description;
}

inline Report HandMadeReport(RunDescription description = HandMadeDescription()) {
  return Report(std::move(description),
                [](const std::string& name) { return std::string("repeat <").append(name).append(">"); });
}

// A judged case with so many exact codes, each in a set of one member.
inline CaseResult RightResult(const std::string& name, spec::Operation op, std::int64_t codes,
                              std::int64_t window_rows = 0) {
  CaseResult result;
  result.name = name;
  result.op = op;
  result.window_rows = window_rows;
  result.verdict.tokens = 1;
  result.verdict.tally(ElementKind::kCode).exact = codes;
  result.verdict.tally(ElementKind::kCode).single = codes;
  return result;
}

inline CaseResult StatusResult(CaseStatus status, const std::string& message) {
  CaseResult result;
  result.name = "some case";
  result.status = status;
  result.message = message;
  if (status != CaseStatus::kUnreadable) result.op = spec::Operation::kFinalize;
  return result;
}

// The same, with one wrong code.
inline CaseResult WrongResult(const std::string& name, spec::Operation op, std::int64_t codes) {
  CaseResult result = RightResult(name, op, codes);
  Tally& tally = result.verdict.tally(ElementKind::kCode);
  --tally.exact;
  ++tally.wrong;
  Problem problem;
  problem.buffer = "kv_cache";
  problem.byte_offset = 1234;
  problem.token = 3;
  problem.element = 17;
  problem.observed = "0x3A (1.25)";
  problem.expected = "0x3B (1.375)";
  problem.allowed = "0x3B (1.375) .. 0x3C (1.5)";
  result.verdict.problems.push_back(problem);
  return result;
}

}  // namespace kvexact
