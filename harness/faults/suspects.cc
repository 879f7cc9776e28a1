// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/suspects.h"

#include <algorithm>

namespace kvexact {
namespace {

// Pairs are tried among this many faults, those that leave the fewest bytes unlike.
constexpr std::size_t kPairedFaults = 60;

struct Scored {
  const Fault* fault;
  std::int64_t unlike;
};

std::vector<Suspect> Pairs(std::vector<Scored> scored, const Observation& seen, const Budget& budget) {
  std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) { return a.unlike < b.unlike; });
  if (scored.size() > kPairedFaults) scored.resize(kPairedFaults);
  std::vector<Suspect> pairs;
  for (std::size_t i = 0; i < scored.size(); ++i) {
    for (std::size_t j = i + 1; j < scored.size(); ++j) {
      Suspect pair{scored[i].fault, scored[j].fault, 0};
      const Fit fit = FitOf(pair, seen, budget);
      if (!fit.explained) continue;
      pair.inexact = fit.inexact;
      pairs.push_back(pair);
    }
  }
  return pairs;
}

std::int64_t UnlikeBytes(const TensorMap& a, const TensorMap& b) {
  std::int64_t unlike = 0;
  for (const auto& [name, tensor] : a) {
    const Tensor& other = b.find(name)->second;
    for (std::int64_t i = 0; i < tensor.size_bytes(); ++i) unlike += tensor.bytes()[i] != other.bytes()[i] ? 1 : 0;
  }
  return unlike;
}

}  // namespace

Variant VariantOf(const Suspect& suspect) {
  return suspect.second == nullptr ? VariantOf(*suspect.first) : VariantOf(*suspect.first, *suspect.second);
}

ByteMask OpenBytesOf(const Case& c, const CaseVerdict& verdict) {
  std::vector<std::pair<std::int64_t, std::int64_t>> cells;
  for (const OpenToken& open : verdict.open) cells.emplace_back(open.token, open.head);
  return OpenBytes(c, cells);
}

Fit FitOf(const Suspect& suspect, const Observation& seen, const Budget& budget) {
  const Variant variant = VariantOf(suspect);
  VariantImage image(variant, seen.c, seen.before);
  return image.Compare(seen.after, budget, seen.open, *seen.means);
}

bool Concerns(const Suspect& suspect, spec::Operation op) {
  const OperationSet operations =
      suspect.first->operations | (suspect.second == nullptr ? OperationSet{0} : suspect.second->operations);
  return (operations & SetOf(op)) != 0;
}

std::size_t Rank(std::vector<Suspect>& suspects) {
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const Suspect& a, const Suspect& b) { return a.inexact < b.inexact; });
  // A subject that equals some suspect's model byte for byte is that suspect, or one that stores the same;
  // of another subject, whose arithmetic is its own, each that explains it is as good.
  if (suspects.empty() || suspects.front().inexact != 0) return suspects.size();
  return static_cast<std::size_t>(
      std::count_if(suspects.begin(), suspects.end(), [](const Suspect& s) { return s.inexact == 0; }));
}

std::vector<Suspect> FindSuspects(const Observation& seen, const DiagnoseOptions& options) {
  std::vector<Suspect> suspects;
  std::vector<Scored> scored;
  for (const Fault& fault : Faults()) {
    Suspect suspect{&fault, nullptr, 0};
    if (fault.fault_class == FaultClass::kEquivalent || !Concerns(suspect, seen.c.op)) continue;
    const Variant variant = VariantOf(suspect);
    VariantImage image(variant, seen.c, seen.before);
    const Fit fit = image.Compare(seen.after, *options.judge.budget, seen.open, *seen.means);
    if (fit.explained) {
      suspect.inexact = fit.inexact;
      suspects.push_back(suspect);
    } else if (options.pairs) {
      scored.push_back({&fault, UnlikeBytes(image.strict(), seen.after)});
    }
  }
  if (suspects.empty() && options.pairs) return Pairs(std::move(scored), seen, *options.judge.budget);
  return suspects;
}

}  // namespace kvexact
