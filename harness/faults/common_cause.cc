// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/common_cause.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "harness/faults/suspects.h"

namespace kvexact {
namespace {

constexpr std::size_t kSeveral = 3;
constexpr std::int64_t kMostElements = 1 << 18;

struct Failing {
  std::size_t index;
  Observation seen;
};

// By judged elements, of equals the first first.
std::multimap<std::int64_t, Failing> SmallestFirst(std::span<const Evidence* const> failures,
                                                   const JudgeOptions& options) {
  std::multimap<std::int64_t, Failing> chosen;
  for (std::size_t i = 0; i < failures.size(); ++i) {
    const auto& [c, before, after] = *failures[i];
    const CaseVerdict verdict = Judge(c, options, before, after);
    const std::int64_t elements = verdict.total().judged();
    if (verdict.right() || elements > kMostElements) continue;  // right: it failed for another reason
    chosen.emplace(elements, Failing{i, {c, before, after, OpenBytesOf(c, verdict)}});
  }
  return chosen;
}

// The suspects that explain one more observation.
std::vector<Suspect> Explaining(const std::vector<Suspect>& suspects, const Observation& seen, const Budget& budget) {
  std::vector<Suspect> left;
  for (Suspect suspect : suspects) {
    if (!Concerns(suspect, seen.c.op)) continue;
    const Fit fit = FitOf(suspect, seen, budget);
    if (!fit.explained) continue;
    suspect.inexact += fit.inexact;
    left.push_back(suspect);
  }
  return left;
}

bool Join(const Failing& failure, const Budget& budget, std::vector<CommonCause>& causes) {
  for (CommonCause& cause : causes) {
    std::vector<Suspect> left = Explaining(cause.suspects, failure.seen, budget);
    if (left.empty()) continue;
    cause.suspects = std::move(left);
    cause.failures.push_back(failure.index);
    return true;
  }
  return false;
}

using Counts = std::map<spec::Operation, std::size_t>;

Counts ByOperation(std::span<const Evidence* const> failures) {
  Counts counts;
  for (const Evidence* failure : failures) ++counts[failure->c.op];
  return counts;
}

bool Weighty(const CommonCause& cause, std::span<const Evidence* const> failures, const Counts& all) {
  if (cause.failures.size() >= kSeveral) return true;
  Counts counts;
  for (const std::size_t failure : cause.failures) ++counts[failures[failure]->c.op];
  return std::any_of(counts.begin(), counts.end(),
                     [&](const auto& entry) { return 3 * entry.second >= all.at(entry.first); });
}

}  // namespace

std::vector<CommonCause> FindCommonCauses(std::span<const Evidence* const> failures, const JudgeOptions& options,
                                          int searches) {
  DiagnoseOptions single;
  single.judge = options;
  single.pairs = false;
  std::vector<CommonCause> causes;
  for (const auto& [elements, failure] : SmallestFirst(failures, options)) {
    if (Join(failure, *options.budget, causes) || searches == 0) continue;
    --searches;
    std::vector<Suspect> suspects = FindSuspects(failure.seen, single);
    if (!suspects.empty()) causes.push_back({std::move(suspects), 0, {failure.index}});
  }
  const Counts all = ByOperation(failures);
  std::erase_if(causes, [&](const CommonCause& cause) { return !Weighty(cause, failures, all); });
  for (CommonCause& cause : causes) cause.tied = Rank(cause.suspects);
  return causes;
}

}  // namespace kvexact
