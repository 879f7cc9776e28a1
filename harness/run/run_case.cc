// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_case.h"

#include <algorithm>
#include <exception>

#include "harness/run/differing.h"
#include "harness/run/exact_claim.h"

namespace kvexact {
namespace {

constexpr Poison kReorderedPoison{kSecondPoison.mask, 3};

CaseStatus StatusOf(RunStatus status) {
  switch (status) {
    case RunStatus::kOk:
      return CaseStatus::kJudged;
    case RunStatus::kUnsupported:
      return CaseStatus::kUnsupported;
    case RunStatus::kError:
      return CaseStatus::kError;
    case RunStatus::kCrashed:
      return CaseStatus::kCrashed;
  }
  return CaseStatus::kError;
}

TensorMap StrictOutputs(const Case& c) {
  TensorMap outputs = c.outputs_before;
  MakeReferenceBackend()->Run(c, outputs);
  return outputs;
}

RunOutcome RunGuarded(Backend& backend, const Case& c, TensorMap& outputs) {
  try {
    return backend.Run(c, outputs);
  } catch (const std::exception& e) {
    return {RunStatus::kError, std::string("threw an exception: ") + e.what()};
  }
}

// What changed outside the outputs has no fill to compare with byte by byte: each buffer counts as one.
void CountTouched(const std::vector<std::string>& names, const char* observed, CaseVerdict& verdict) {
  for (const std::string& name : names) {
    ++verdict.touched;
    if (verdict.problems.size() >= CaseVerdict::kMaxProblems) continue;
    Problem problem;
    problem.what = Problem::What::kTouched;
    problem.buffer = name;
    problem.observed = observed;
    problem.expected = "no change";
    verdict.problems.push_back(std::move(problem));
  }
}

void AddDistinct(const std::vector<std::string>& from, std::vector<std::string>& to) {
  for (const std::string& name : from) {
    if (std::find(to.begin(), to.end(), name) == to.end()) to.push_back(name);
  }
}

void KeepEvidence(const Case& c, const TensorMap& before, const TensorMap& after, CaseResult& result) {
  if (!result.right()) result.evidence = std::make_shared<const Evidence>(Evidence{c, before, after});
}

}  // namespace

CaseTrial::CaseTrial(const Case& c, const Stages& stages)
    : case_(c), written_(WrittenBytes(c, stages)), strict_(StrictOutputs(c)) {
  const std::uint64_t seed = SeedOf(c.name);
  const auto fill = [&](const Poison& poison) {
    TensorMap before = Poisoned(strict_, written_, poison, seed);
    TensorMap after = before;
    return RunOutputs{std::move(before), std::move(after)};
  };
  runs_.first = fill(kFirstPoison);
  runs_.second = fill(kSecondPoison);
  launches_ = Reordered(c, seed);
  if (!launches_.empty()) runs_.reordered = fill(kReorderedPoison);
}

bool CaseTrial::RunOnce(Backend& backend, const Case& c, TensorMap& outputs, const char* which) {
  RunOutcome outcome = RunGuarded(backend, c, outputs);
  AddDistinct(outcome.written_inputs, written_inputs_);
  AddDistinct(outcome.damaged_guards, damaged_guards_);
  outcome_.status = outcome.status;
  outcome_.message = which + outcome.message;
  return outcome.status == RunStatus::kOk;
}

void CaseTrial::RunReordered(Backend& backend) {
  TensorMap& whole = runs_.reordered->after;
  for (const PartialLaunch& launch : launches_) {
    TensorMap part = TakeOutputs(launch, whole);
    if (!RunOnce(backend, launch.part, part, "with the tokens in another order and two launches: ")) return;
    PutBack(launch, std::move(part), whole);
  }
}

void CaseTrial::Run(Backend& backend) {
  claims_exact_ = backend.info().bit_exact;
  if (!RunOnce(backend, case_, runs_.first.after, "")) return;
  if (!RunOnce(backend, case_, runs_.second.after, "in a second run: ")) return;
  if (runs_.reordered) RunReordered(backend);
}

CaseResult CaseTrial::Judge(const JudgeOptions& options) {
  CaseResult result = ResultFor(case_);
  result.status = StatusOf(outcome_.status);
  if (result.status != CaseStatus::kJudged) {
    result.message = outcome_.message;
    return result;
  }
  const auto judge = [&] { result.verdict = kvexact::Judge(case_, options, runs_.first.before, runs_.first.after); };
  judge();
  if (result.verdict.total().unwritten > 0 && MarkWrittenByChance(case_, *options.stages, runs_)) judge();
  CountDiffering(case_, *options.stages, strict_, runs_.first.after, result);
  CompareRuns(case_, *options.stages, written_, runs_, result);
  if (claims_exact_) HoldToExactClaim(case_, *options.stages, strict_, runs_.first.after, result);
  CountTouched(written_inputs_, "an input that was written to", result.verdict);
  CountTouched(damaged_guards_, "written to, outside every buffer", result.verdict);
  KeepEvidence(case_, runs_.first.before, runs_.first.after, result);
  return result;
}

CaseResult RunCase(Backend& backend, const Case& c, const JudgeOptions& options) {
  CaseTrial trial(c, *options.stages);
  trial.Run(backend);
  return trial.Judge(options);
}

CaseResult JudgeRecorded(const Case& c, const JudgeOptions& options) {
  CaseResult result = ResultFor(c);
  result.verdict = Judge(c, options, c.outputs_before, *c.outputs_after);
  CountDiffering(c, *options.stages, StrictOutputs(c), *c.outputs_after, result);
  KeepEvidence(c, c.outputs_before, *c.outputs_after, result);
  return result;
}

}  // namespace kvexact
