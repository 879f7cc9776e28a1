// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/faults/image.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

// Pairs are tried among this many faults, those that leave the fewest bytes unlike.
constexpr std::size_t kPairedFaults = 60;

struct Observation {
  const Case& c;
  const TensorMap& before;
  const TensorMap& after;
  ByteMask open;
};

Variant VariantOf(const Suspect& suspect) {
  return suspect.second == nullptr ? kvexact::VariantOf(*suspect.first)
                                   : kvexact::VariantOf(*suspect.first, *suspect.second);
}

ByteMask OpenBytesOf(const Case& c, const CaseVerdict& verdict) {
  std::vector<std::pair<std::int64_t, std::int64_t>> cells;
  for (const OpenToken& open : verdict.open) cells.emplace_back(open.token, open.head);
  return OpenBytes(c, cells);
}

Fit FitOf(const Suspect& suspect, const Observation& seen, const Budget& budget) {
  const Variant variant = VariantOf(suspect);
  VariantImage image(variant, seen.c, seen.before);
  return image.Compare(seen.after, budget, seen.open);
}

void Rank(Diagnosis& diagnosis) {
  auto& suspects = diagnosis.suspects;
  std::stable_sort(suspects.begin(), suspects.end(),
                   [](const Suspect& a, const Suspect& b) { return a.inexact < b.inexact; });
  // A subject that equals some suspect's model byte for byte is that suspect, or one that stores the same;
  // of another subject, whose arithmetic is its own, each that explains it is as good.
  diagnosis.tied = suspects.size();
  if (suspects.empty() || suspects.front().inexact != 0) return;
  diagnosis.tied = static_cast<std::size_t>(
      std::count_if(suspects.begin(), suspects.end(), [](const Suspect& s) { return s.inexact == 0; }));
}

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

// What explains one observation that the judge does not find right.
void FindSuspects(const Observation& seen, const DiagnoseOptions& options, Diagnosis& diagnosis) {
  std::vector<Scored> scored;
  for (const Fault& fault : Faults()) {
    if (fault.fault_class == FaultClass::kEquivalent || (fault.operations & SetOf(seen.c.op)) == 0) continue;
    Suspect suspect{&fault, nullptr, 0};
    const Variant variant = VariantOf(suspect);
    VariantImage image(variant, seen.c, seen.before);
    const Fit fit = image.Compare(seen.after, *options.judge.budget, seen.open);
    if (fit.explained) {
      suspect.inexact = fit.inexact;
      diagnosis.suspects.push_back(suspect);
    } else if (options.pairs) {
      scored.push_back({&fault, UnlikeBytes(image.strict(), seen.after)});
    }
  }
  if (diagnosis.suspects.empty() && options.pairs) {
    diagnosis.suspects = Pairs(std::move(scored), seen, *options.judge.budget);
  }
}

// Whether the suspects' strict models store the same.
bool AllAlike(const std::vector<Suspect>& suspects, const Case& c) {
  const Variant first = VariantOf(suspects.front());
  const TensorMap expected = VariantImage(first, c, c.outputs_before).strict();
  return std::all_of(suspects.begin() + 1, suspects.end(), [&](const Suspect& suspect) {
    const Variant variant = VariantOf(suspect);
    return VariantImage(variant, c, c.outputs_before).strict() == expected;
  });
}

// Drawn cases on which the suspects differ, until one is left.
void Separate(Backend& subject, const DiagnoseOptions& options, Diagnosis& diagnosis) {
  DrawSettings draw;
  for (const spec::OperationRow& row : spec::kOperations) {
    const bool any = std::any_of(diagnosis.suspects.begin(), diagnosis.suspects.end(),
                                 [&](const Suspect& s) { return (s.first->operations & SetOf(row.id)) != 0; });
    if (any) draw.operations.push_back(row.id);
  }
  draw.max_configs = std::max<std::int64_t>(24, static_cast<std::int64_t>(draw.operations.size()));
  const bool open_values = options.judge.policy->nonfinite == NonFiniteRule::kUnjudged;
  for (std::int64_t i = 0; i < options.separating_cases && diagnosis.tied > 1; ++i) {
    const CaseSpec spec = Draw(draw, static_cast<std::uint64_t>(i));
    if (open_values && NonFinite(spec)) continue;
    const Case c = Generate(spec);
    const std::vector<Suspect> top(diagnosis.suspects.begin(),
                                   diagnosis.suspects.begin() + static_cast<std::ptrdiff_t>(diagnosis.tied));
    if (AllAlike(top, c)) continue;
    TensorMap after = c.outputs_before;
    if (subject.Run(c, after).status != RunStatus::kOk) continue;
    ++diagnosis.cases;
    const Observation seen{c, c.outputs_before, after, {}};
    std::vector<Suspect> left;
    for (Suspect suspect : diagnosis.suspects) {
      const Fit fit = FitOf(suspect, seen, *options.judge.budget);
      if (!fit.explained) continue;
      suspect.inexact += fit.inexact;
      left.push_back(suspect);
    }
    if (left.empty()) {
      diagnosis.note = fmt::format("none of them explains {} too", c.name);
      return;
    }
    if (left.size() < diagnosis.suspects.size()) diagnosis.separating.push_back(c.name);
    diagnosis.suspects = std::move(left);
    Rank(diagnosis);
  }
}

}  // namespace

std::string Suspect::name() const {
  return second == nullptr ? first->name : fmt::format("{} + {}", first->name, second->name);
}

Diagnosis Diagnose(const Case& c, const TensorMap& before, const TensorMap& after, const DiagnoseOptions& options) {
  Diagnosis diagnosis;
  const CaseVerdict verdict = Judge(c, options.judge, before, after);
  diagnosis.right = verdict.right();
  if (diagnosis.right) return diagnosis;
  FindSuspects({c, before, after, OpenBytesOf(c, verdict)}, options, diagnosis);
  Rank(diagnosis);
  return diagnosis;
}

Diagnosis Diagnose(Backend& subject, const Case& c, const DiagnoseOptions& options) {
  TensorMap after = c.outputs_before;
  const RunOutcome outcome = subject.Run(c, after);
  Diagnosis diagnosis;
  if (outcome.status != RunStatus::kOk) {
    diagnosis.cases = 0;
    diagnosis.note = "the subject did not run the case: " + outcome.message;
    return diagnosis;
  }
  diagnosis = Diagnose(c, c.outputs_before, after, options);
  if (diagnosis.tied > 1) Separate(subject, options, diagnosis);
  return diagnosis;
}

std::string Text(const Diagnosis& diagnosis) {
  std::string text;
  if (diagnosis.right) {
    text = "right: no fault to name\n";
  } else if (diagnosis.cases == 0) {
    text = "nothing to diagnose\n";
  } else if (diagnosis.suspects.empty()) {
    text = "no known fault explains every byte\n";
  } else if (diagnosis.tied > 1) {
    text = fmt::format("one of {} faults, which store the same here:\n", diagnosis.tied);
  }
  for (std::size_t i = 0; i < diagnosis.suspects.size(); ++i) {
    const Suspect& suspect = diagnosis.suspects[i];
    text += fmt::format("{:<10} {:<28} {}{}\n", i < diagnosis.tied ? "explained" : "less well", suspect.name(),
                        suspect.first->summary,
                        suspect.second == nullptr ? "" : fmt::format("; {}", suspect.second->summary));
  }
  for (const std::string& spec : diagnosis.separating) text += fmt::format("told apart by: {}\n", spec);
  if (!diagnosis.note.empty()) text += fmt::format("{}\n", diagnosis.note);
  return text;
}

}  // namespace kvexact
