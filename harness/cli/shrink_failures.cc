// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/shrink_failures.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "harness/cli/progress.h"
#include "harness/run/failure_kinds.h"

namespace kvexact::cli {
namespace {

std::size_t FirstKind(const CaseResult& result) {
  const FailureKinds kinds = KindsOf(result);
  std::size_t bit = 0;
  while (bit < kinds.size() && !kinds[bit]) ++bit;
  return bit;
}

std::vector<std::size_t> FirstOfEachKind(const Report& report) {
  std::vector<std::size_t> chosen;
  std::set<std::pair<spec::Operation, std::size_t>> seen;
  for (std::size_t i = 0; i < report.failures().size(); ++i) {
    const CaseResult& result = report.failures()[i].result;
    if (seen.emplace(*result.op, FirstKind(result)).second) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace

void ShrinkFailures(Backend& subject, const JudgeOptions& options, std::chrono::steady_clock::duration time, bool quiet,
                    Report& report) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + time;
  const std::vector<std::size_t> chosen = FirstOfEachKind(report);
  StatusLine line(quiet);
  for (std::size_t i = 0; i < chosen.size() && Clock::now() < end; ++i) {
    const CaseResult failure = report.failures()[chosen[i]].result;
    ShrinkLimits limits;
    limits.deadline = Clock::now() + (end - Clock::now()) / (chosen.size() - i);
    const Shrunk shrunk = Shrink(subject, ParseSpec(failure.name), failure, options, limits, [&](const Shrunk& best) {
      line.Show([&] {
        return fmt::format("shrinking failure {} of {} ({}): {} trials, {} tokens of {} requests", i + 1, chosen.size(),
                           spec::row(*failure.op).name, best.trials, TokensOf(best.spec), RequestsOf(best.spec));
      });
    });
    report.SetShrunk(chosen[i], shrunk);
  }
}

}  // namespace kvexact::cli
