// SPDX-License-Identifier: Apache-2.0
// The smallest spec found whose case fails as a given one does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "harness/backend/backend.h"
#include "harness/generate/case_spec.h"
#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

// Whichever comes first ends the search; a trial that has begun is finished.
struct ShrinkLimits {
  std::int64_t trials = 600;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
};

struct Shrunk {
  CaseSpec spec;
  CaseResult result;        // of the spec's case
  std::int64_t trials = 0;  // cases that were run
  bool least = false;       // nothing simpler fails; false: a limit ended the search
};

// Called after each trial with what is best so far.
using ShrinkProgress = std::function<void(const Shrunk& best)>;

// `failure` is what became of the spec's case: not right. A simpler case counts as the same failure if it is not right
// in one of the ways of `failure` and in no other way. Greedy: the first simpler spec that fails is taken.
Shrunk Shrink(Backend& subject, const CaseSpec& spec, const CaseResult& failure, const JudgeOptions& options,
              const ShrinkLimits& limits, const ShrinkProgress& progress = {});

}  // namespace kvexact
