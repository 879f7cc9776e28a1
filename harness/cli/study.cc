// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace kvexact::cli {
namespace {

constexpr int kDiagnosed = 3;          // failures; each takes about half a second
constexpr std::size_t kMostNamed = 4;  // faults; more say nothing

void Name(const JudgeOptions& options, Failure& failure) {
  DiagnoseOptions diagnose;
  diagnose.judge = options;
  diagnose.pairs = false;
  const Evidence& evidence = *failure.result.evidence;
  AddSuspects(Diagnose(evidence.c, evidence.before, evidence.after, diagnose), failure);
}

}  // namespace

void AddSuspects(const Diagnosis& diagnosis, Failure& failure) {
  if (diagnosis.right || diagnosis.tied == 0 || diagnosis.tied > kMostNamed) return;
  const auto first = diagnosis.suspects.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(diagnosis.tied);
  std::for_each(first, last, [&](const Suspect& suspect) {
    failure.suspects.push_back(fmt::format("{}: {}", suspect.name(), suspect.first->summary));
  });
  const std::string_view stage = first->first->stage;
  if (std::all_of(first, last, [&](const Suspect& s) { return s.first->stage == stage; })) {
    failure.stage = {std::string(stage), "a known fault of this stage explains every byte"};
  }
}

StudyFailure NameKnownFaults() {
  return [left = kDiagnosed](const JudgeOptions& options, Failure& failure) mutable {
    if (!failure.result.evidence || left == 0) return;
    --left;
    Name(options, failure);
  };
}

}  // namespace kvexact::cli
