// SPDX-License-Identifier: Apache-2.0
// How soon a run of generated cases finds a fault.
#pragma once

#include <cstdint>
#include <string>

#include "harness/backend/backend.h"
#include "harness/generate/draw.h"
#include "harness/judge/judge.h"
#include "harness/run/case_result.h"

namespace kvexact {

struct KillSettings {
  DrawSettings draw;
  std::int64_t cases = 2000;
  double seconds = 60;
  int threads = 0;  // 0: one a core
  JudgeOptions judge;
};

struct Kill {
  bool killed = false;
  std::int64_t cases = 0;  // run up to and with the first that failed
  double seconds = 0;      // of wall clock
  std::string spec;        // of the case that failed
  std::string verdict;     // what failed in it: "7 wrong codes, 1 wrong scale, 12 bytes touched"
};

// Runs the cases that `verify` would run with these settings, in their order, up to the first that fails.
Kill FindKill(Backend& subject, const KillSettings& settings);

// What a result holds against its subject, in words; empty if nothing.
std::string VerdictText(const CaseResult& result);

}  // namespace kvexact
