// SPDX-License-Identifier: Apache-2.0
// Which faults explain one observation.
#pragma once

#include <memory>
#include <vector>

#include "harness/faults/diagnose.h"
#include "harness/faults/image.h"
#include "harness/judge/verdict.h"

namespace kvexact {

// What a subject stored for a case.
struct Observation {
  const Case& c;
  const TensorMap& before;
  const TensorMap& after;
  ByteMask open;                                                             // bytes that the policy leaves open
  std::unique_ptr<EnclosedMeans> means = std::make_unique<EnclosedMeans>();  // of its windows, under one budget
};
ByteMask OpenBytesOf(const Case& c, const CaseVerdict& verdict);

Variant VariantOf(const Suspect& suspect);

// Whether the suspect's fault, or one of its two, can change what the operation stores.
bool Concerns(const Suspect& suspect, spec::Operation op);

Fit FitOf(const Suspect& suspect, const Observation& seen, const Budget& budget);

// What explains an observation that the judge does not find right: single faults, or else, if asked for, pairs.
std::vector<Suspect> FindSuspects(const Observation& seen, const DiagnoseOptions& options);

// Sorts the suspects by how well they explain what was seen; the number of those that do so equally well.
std::size_t Rank(std::vector<Suspect>& suspects);

}  // namespace kvexact
