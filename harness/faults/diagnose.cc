// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/diagnose.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/faults/suspects.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

// A single suspect has to show as it was seen in so many cases, and so many that no suspect explains clear all, unless
// more were explained: of arithmetic that is the subject's own, what a fault may store is not known to the last bit.
constexpr int kConfirmingCases = 4;
constexpr int kRefutingCases = 3;
// Rows, or tokens of a compression, of a case that is drawn for that: more take long and tell no more.
constexpr std::int64_t kMostRows = 2048;

std::int64_t RowsOf(const CaseSpec& spec) {
  const bool q = spec::row(spec.config.op).family == spec::Family::kIndexerQ;
  return TokensOf(spec) * (q ? spec.config.heads : 1);
}

TensorMap StrictlyStored(const Variant& variant, const Case& c) {
  return VariantImage(variant, c, c.outputs_before).strict();
}

// Whether a case can tell the suspects apart, or a single one from what is right.
bool Tells(const std::vector<Suspect>& suspects, std::size_t tied, const Case& c) {
  const TensorMap first = StrictlyStored(VariantOf(suspects.front()), c);
  if (tied == 1) return first != StrictlyStored(BoundedVariant(), c);
  return std::any_of(suspects.begin() + 1, suspects.begin() + static_cast<std::ptrdiff_t>(tied),
                     [&](const Suspect& suspect) { return StrictlyStored(VariantOf(suspect), c) != first; });
}

std::vector<spec::Operation> OperationsOf(const std::vector<Suspect>& suspects) {
  std::vector<spec::Operation> operations;
  for (const spec::OperationRow& row : spec::kOperations) {
    const bool any =
        std::any_of(suspects.begin(), suspects.end(), [&](const Suspect& s) { return Concerns(s, row.id); });
    if (any) operations.push_back(row.id);
  }
  return operations;
}

// Draws cases on which the suspects differ until one is left, then some in which that one shows.
void Confirm(Backend& subject, const DiagnoseOptions& options, Diagnosis& diagnosis) {
  DrawSettings draw;
  draw.operations = OperationsOf(diagnosis.suspects);
  draw.max_configs = std::max<std::int64_t>(24, static_cast<std::int64_t>(draw.operations.size()));
  const bool open_values = options.judge.policy->nonfinite == NonFiniteRule::kUnjudged;
  int confirmed = 0;
  int explained = 0;
  int refuted = 0;
  for (std::int64_t i = 0; i < options.separating_cases; ++i) {
    if (diagnosis.tied == 1 && confirmed == kConfirmingCases) return;
    const CaseSpec spec = Draw(draw, static_cast<std::uint64_t>(i));
    if ((open_values && NonFinite(spec)) || RowsOf(spec) > kMostRows) continue;
    const Case c = Generate(spec);
    if (!Tells(diagnosis.suspects, diagnosis.tied, c)) continue;
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
      diagnosis.note = fmt::format("not explained: {}", c.name);
      if (++refuted < kRefutingCases || refuted <= explained) continue;
      diagnosis.suspects.clear();
      diagnosis.tied = 0;
      return;
    }
    ++explained;
    if (diagnosis.tied == 1) ++confirmed;
    if (left.size() < diagnosis.suspects.size()) diagnosis.separating.push_back(c.name);
    diagnosis.suspects = std::move(left);
    diagnosis.tied = Rank(diagnosis.suspects);
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
  diagnosis.suspects = FindSuspects({c, before, after, OpenBytesOf(c, verdict)}, options);
  diagnosis.tied = Rank(diagnosis.suspects);
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
  if (diagnosis.tied > 0) Confirm(subject, options, diagnosis);
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
