// SPDX-License-Identifier: Apache-2.0
// Many cases, run and judged on several threads, in order.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>

#include "harness/backend/backend.h"
#include "harness/judge/judge.h"
#include "harness/run/case_result.h"
#include "harness/run/case_source.h"

namespace kvexact {

struct RunLimits {
  int threads = 0;                                                // 0: one a core
  std::optional<std::chrono::steady_clock::time_point> deadline;  // no case is begun after it
  // So many cases that are not right come with their evidence, the first ones; some later ones may.
  std::size_t evidence = std::numeric_limits<std::size_t>::max();
};

// Called on the calling thread, in the order of the source.
using ConsumeResult = std::function<void(CaseResult)>;

// Generates, runs and judges every case. A subject that is not concurrent runs one case at a time; everything else runs
// in parallel. A case that cannot be loaded becomes an unreadable result. Results do not depend on the number of
// threads.
void RunCases(Backend& backend, const CaseSource& source, const JudgeOptions& options, const RunLimits& limits,
              const ConsumeResult& consume);

// Judges the outputs recorded with every case; a case without them becomes an unreadable result.
void JudgeRecordings(const CaseSource& source, const JudgeOptions& options, const RunLimits& limits,
                     const ConsumeResult& consume);

}  // namespace kvexact
