// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/name_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/faults/common_cause.h"

namespace kvexact::cli {
namespace {

constexpr int kSearches = 3;
constexpr std::size_t kMostNamed = 4;  // faults

}  // namespace

void SetSuspects(const std::vector<Suspect>& suspects, std::size_t tied, std::size_t i, Report& report) {
  if (tied == 0 || tied > kMostNamed) return;
  const auto first = suspects.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(tied);
  std::vector<std::string> names;
  std::for_each(first, last, [&](const Suspect& suspect) {
    names.push_back(fmt::format("{}: {}", suspect.name(), suspect.first->summary));
  });
  WrongStage stage;
  const std::string_view name = first->first->stage;
  if (std::all_of(first, last, [&](const Suspect& s) { return s.first->stage == name; })) {
    stage = {std::string(name), "a known fault of this stage explains every byte"};
  }
  report.SetSuspects(i, std::move(names), stage);
}

void NameKnownFaults(const JudgeOptions& options, Report& report) {
  std::vector<const Evidence*> evidence;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < report.failures().size(); ++i) {
    const Evidence* one = report.failures()[i].result.evidence.get();
    if (one == nullptr) continue;
    evidence.push_back(one);
    places.push_back(i);
  }
  for (const CommonCause& cause : FindCommonCauses(evidence, options, kSearches)) {
    for (const std::size_t i : cause.failures) SetSuspects(cause.suspects, cause.tied, places[i], report);
  }
}

}  // namespace kvexact::cli
