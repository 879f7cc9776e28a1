// SPDX-License-Identifier: Apache-2.0
// What careful fp32 implementations do differently from each other.
#pragma once

#include <cstdint>
#include <span>

#include "reference/operations/inputs.h"

namespace kvexact::ports {

enum class SumOrder : std::uint8_t {
  kForward,
  kReversed,
  kPairwise,
  kSplit,   // eight partial sums of every eighth term, then those
  kKahan,   // compensated
  kRandom,  // another permutation for every sum
};

enum class ExpForm : std::uint8_t {
  kLibm,         // exp of the difference, as the C library has it
  kTwoUlp,       // the rounded one, a step away half of the time
  kTable,        // 2^(i/64) from a table times a polynomial
  kExp2,         // exp2(d * log2 e)
  kScaledTerms,  // exp2(s * log2 e - m * log2 e), three roundings
  kFusedTerm,    // exp2(fma(s, log2 e, -(m * log2 e)))
};

enum class Normalise : std::uint8_t {
  kAfter,   // the weighted sum is divided by the sum of the weights
  kBefore,  // each weight is
  kOnline,  // after; sums are rescaled whenever the maximum rises
};

enum class Rsqrt : std::uint8_t {
  kDivision,  // 1 / sqrt
  kFast,      // the rounded one, a step away half of the time
};

// The order of the products of a folded weight.
using FoldWeight = float (*)(const IndexerQInputs&, float weight, float scale);

struct PortOptions {
  const char* name;
  const char* budget;
  SumOrder rows = SumOrder::kForward;
  SumOrder head = SumOrder::kForward;
  ExpForm exp = ExpForm::kLibm;
  Normalise normalise = Normalise::kAfter;
  bool contract = false;    // a product and a sum in one rounding
  bool reciprocal = false;  // a * (1 / b) for a / b
  Rsqrt rsqrt = Rsqrt::kDivision;
  bool flush = false;         // subnormal operands and results become zero
  FoldWeight fold = nullptr;  // null: the model's
};

// One port for each way, and some that do several at once.
std::span<const PortOptions> Ports();

}  // namespace kvexact::ports
