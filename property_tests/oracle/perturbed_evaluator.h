// SPDX-License-Identifier: Apache-2.0
// An fp32 evaluation of the pipeline, perturbed as a Perturbation says. Every result is one that an
// IEEE-754 implementation with the stated errors could produce.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "property_tests/oracle/perturbation.h"
#include "property_tests/oracle/stored.h"
#include "property_tests/oracle/token_inputs.h"

namespace kvexact::oracle {

struct PerturbedToken {
  std::vector<float> columns;  // [head_dim]
  // Absent for gather_split.
  float sum_squares = 0;
  float rrms = 0;
  std::vector<float> normed;   // [head_dim]
  std::vector<float> rotated;  // [head_dim]; dims that do not rotate as in normed
  SmallestFactor smallest_factor = SmallestFactor::kKept;
};

// Bound to one token; keeps the exact exponentials between evaluations.
class PerturbedEvaluator {
 public:
  explicit PerturbedEvaluator(const CompressToken& token);

  PerturbedToken Evaluate(const Perturbation& p);

 private:
  class Run;
  // Exact exponentials [rows, head_dim] of the arguments that `form` computes in fp32.
  const std::vector<double>& ExactWeights(ExpForm form);

  const CompressToken& token_;
  std::size_t head_;
  std::size_t rows_;
  std::vector<float> max_;      // of the scores of a column, NaN ignored
  std::vector<double> center_;  // the weighted mean, unperturbed, for aims alone
  std::array<std::vector<double>, 4> exact_;
};

StoredToken StorePerturbed(const CompressToken& token, const PerturbedToken& value);

struct PerturbedQ {
  std::vector<float> rotated;  // [head_dim]; dims that do not rotate as they are
  StoredQ stored;
  float weight = 0;  // folded, fp32
  std::uint16_t weight_bf16 = 0;
};

// Rotation with the perturbation's contraction and flush, then FoldWeight.
PerturbedQ EvaluateQ(const QHead& head, const Perturbation& p);

// The weight folded with the scale of value.stored, in a drawn order of the fp32 products.
void FoldWeight(const QHead& head, const Perturbation& p, PerturbedQ& value);

}  // namespace kvexact::oracle
