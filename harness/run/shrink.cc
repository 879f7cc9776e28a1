// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shrink.h"

#include <set>
#include <string>
#include <utility>

#include "harness/generate/generate.h"
#include "harness/generate/simpler.h"
#include "harness/run/failure_kinds.h"
#include "harness/run/run_case.h"

namespace kvexact {

Shrunk Shrink(Backend& subject, const CaseSpec& spec, const CaseResult& failure, const JudgeOptions& options,
              const ShrinkLimits& limits, const ShrinkProgress& progress) {
  const FailureKinds wanted = KindsOf(failure);
  Shrunk best{spec, failure, 0, false};
  std::set<std::string> tried = {ToText(spec)};
  const auto within_limits = [&] {
    return best.trials < limits.trials && std::chrono::steady_clock::now() < limits.deadline;
  };
  // Takes the first simpler spec that fails; false if there is none.
  const auto step = [&] {
    for (CaseSpec& simpler : SimplerSpecs(best.spec)) {
      if (!tried.insert(ToText(simpler)).second) continue;
      if (!within_limits()) return false;
      CaseResult result = RunCase(subject, Generate(simpler), options);
      ++best.trials;
      const FailureKinds kinds = KindsOf(result);
      const bool same = kinds.any() && (kinds & ~wanted).none();
      if (same) {
        best.spec = std::move(simpler);
        best.result = std::move(result);
      }
      if (progress) progress(best);
      if (same) return true;
    }
    best.least = true;
    return false;
  };
  while (step()) {
  }
  return best;
}

}  // namespace kvexact
