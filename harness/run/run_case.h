// SPDX-License-Identifier: Apache-2.0
// One case, run by a subject and judged.
#pragma once

#include "harness/backend/backend.h"
#include "harness/judge/judge.h"
#include "harness/run/case_result.h"
#include "harness/run/compare_runs.h"
#include "harness/run/poison.h"
#include "harness/run/reorder.h"

namespace kvexact {

// The three runs of one case, in steps, so that only the second step needs the subject. Between them the case must
// live; it must have passed Check.
class CaseTrial {
 public:
  // Poisons the outputs and reorders the tokens. The fills are a pure function of the case and its name.
  CaseTrial(const Case& c, const Stages& stages);

  // Runs the case with one poison, with the complementary one, and with the tokens in another order and two launches.
  // Stops at the first run that does not end well; an exception is an error of the subject.
  void Run(Backend& backend);

  // Judges the first run, compares the others with it, and holds a subject that claims to equal the model to that.
  CaseResult Judge(const JudgeOptions& options);

 private:
  bool RunOnce(Backend& backend, const Case& c, TensorMap& outputs, const char* which);
  void RunReordered(Backend& backend);

  const Case& case_;
  ByteRanges written_;
  TensorMap strict_;
  bool claims_exact_ = false;
  CaseRuns runs_;
  std::vector<PartialLaunch> launches_;
  RunOutcome outcome_;                       // of the first run that did not end well
  std::vector<std::string> written_inputs_;  // distinct
  std::vector<std::string> damaged_guards_;  // distinct
};

CaseResult RunCase(Backend& backend, const Case& c, const JudgeOptions& options);

// Judges the outputs that were recorded with the case; there must be some.
CaseResult JudgeRecorded(const Case& c, const JudgeOptions& options);

}  // namespace kvexact
