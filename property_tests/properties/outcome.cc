// SPDX-License-Identifier: Apache-2.0
#include "property_tests/properties/outcome.h"

#include <rapidcheck.h>

#include "harness/case/input_error.h"
#include "harness/judge/judge.h"

namespace kvexact::properties {
namespace {

void ExpectRight(const Case& c, const TensorMap& after) {
  const CaseVerdict verdict = Judge(c, {}, c.outputs_before, after);
  const Tally total = verdict.total();
  RC_LOG() << "wrong " << total.wrong << ", unwritten " << total.unwritten << ", touched " << verdict.touched << '\n';
  for (const Problem& problem : verdict.problems) {
    RC_LOG() << problem.buffer << " token " << problem.token << ": " << problem.observed << ", expected "
             << problem.expected << '\n';
  }
  RC_ASSERT(verdict.right());
}

}  // namespace

std::vector<std::string> BackendsPresent() {
  std::vector<std::string> names = {"reference", "host"};
  try {
    OpenBackend("cuda");
    names.emplace_back("cuda");
  } catch (const InputError&) {
    // No GPU, or kernels that were not built.
  }
  return names;
}

TensorMap OutcomeOf(Backend& backend, const Case& c) {
  TensorMap after = c.outputs_before;
  const RunOutcome outcome = backend.Run(c, after);
  RC_LOG() << outcome.message;
  RC_ASSERT(outcome.status == RunStatus::kOk);
  return after;
}

TensorMap OutcomeOf(Backend& backend, const Case& c, const std::vector<PartialLaunch>& launches) {
  TensorMap whole = c.outputs_before;
  for (const PartialLaunch& launch : launches) {
    TensorMap part = TakeOutputs(launch, whole);
    const RunOutcome outcome = backend.Run(launch.part, part);
    RC_LOG() << outcome.message;
    RC_ASSERT(outcome.status == RunStatus::kOk);
    PutBack(launch, std::move(part), whole);
  }
  return whole;
}

void ExpectSame(Backend& backend, const Case& c, const TensorMap& other) {
  const TensorMap once = OutcomeOf(backend, c);
  if (backend.info().bit_exact) {
    RC_ASSERT(other == once);
    return;
  }
  ExpectRight(c, once);
  ExpectRight(c, other);
}

}  // namespace kvexact::properties
