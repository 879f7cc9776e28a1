// SPDX-License-Identifier: Apache-2.0
// Which known fault explains what a kernel stored.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/case/case.h"
#include "harness/faults/fault.h"
#include "harness/judge/judge.h"

namespace kvexact {

// One fault, or two at once.
struct Suspect {
  const Fault* first = nullptr;
  const Fault* second = nullptr;
  std::int64_t inexact = 0;  // stored bytes unlike the strict model of the fault, over all cases

  std::string name() const;  // "scale-floor", "scale-floor + rope-sign"
};

struct Diagnosis {
  bool right = false;                   // the judge finds nothing wrong: no fault is named
  std::vector<Suspect> suspects;        // that explain every byte, best first; empty and not right: no known fault
  std::size_t tied = 0;                 // the first so many explain it equally well
  std::int64_t cases = 1;               // that were run and compared
  std::vector<std::string> separating;  // specs of cases that ruled suspects out
  std::string note;                     // what was left open
};

struct DiagnoseOptions {
  JudgeOptions judge;
  std::int64_t separating_cases = 120;  // drawn at most to tell suspects apart and to confirm one
  bool pairs = true;                    // try two faults at once where no single one fits
};

// From recorded outputs alone. `before` and `after` have the shapes of c.outputs_before; the case must have passed
// Check.
Diagnosis Diagnose(const Case& c, const TensorMap& before, const TensorMap& after, const DiagnoseOptions& options);

// Runs the case, then others that tell the suspects apart or in which the only one shows: what explains the first case
// by chance is not named.
Diagnosis Diagnose(Backend& subject, const Case& c, const DiagnoseOptions& options);

// The answer in words, one line a suspect.
std::string Text(const Diagnosis& diagnosis);

}  // namespace kvexact
