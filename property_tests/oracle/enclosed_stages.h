// SPDX-License-Identifier: Apache-2.0
// The reference's own view of a token, stage by stage: the enclosures under a budget and the strict values.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harness/case/case.h"
#include "property_tests/oracle/perturbed_evaluator.h"
#include "property_tests/oracle/wide.h"
#include "reference/numerics/enclosure.h"
#include "reference/operations/compress_token.h"

namespace kvexact::oracle {

struct EnclosedStages {
  std::vector<EnclosedValue> columns;
  EnclosedValue sum_squares;
  EnclosedValue rrms;
  std::vector<EnclosedValue> normed;
  std::vector<EnclosedValue> rotated;
};

// The token must be live. For gather_split only the columns are filled.
EnclosedStages Enclose(const CompressInputs& in, std::int64_t token, const Budget& budget);
PerturbedToken EvaluateStrict(const CompressInputs& in, std::int64_t token);

// Whether an fp32 implementation may hold x where the enclosure is `e`. Both zeros count as one.
bool Holds(const EnclosedValue& e, float x);
// Whether the real number x, or an infinity or NaN that stands for one, lies in it. What is closer than
// 2^-150, half the least fp32, counts as the same number.
bool Holds(const EnclosedValue& e, const Wide& x);

std::string ToString(const EnclosedValue& e);

}  // namespace kvexact::oracle
