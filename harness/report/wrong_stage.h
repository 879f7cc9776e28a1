// SPDX-License-Identifier: Apache-2.0
// At which stage a failing token first goes wrong, as far as the stored values tell.
#pragma once

#include <string>

#include "harness/report/failure_map.h"

namespace kvexact {

struct WrongStage {
  std::string stage;  // locate, gather or softmax, norm, rope, scale, quantise, weight, store; empty: cannot be told
  std::string why;    // one sentence
};

// Decodes what the first wrong row of the map stored and compares it with the model's values at every stage, from the
// last one back: a stage is the first wrong one if those behind it are consistent with what was stored, given what it
// made. An inference from values: kernels with another error may store the same.
WrongStage FirstWrongStage(const Evidence& evidence, const JudgeOptions& options, const FailureMap& map);

}  // namespace kvexact
