// SPDX-License-Identifier: Apache-2.0
// One way in which an honest fp32 implementation may evaluate the pipeline, and limits within which
// such ways are drawn. Data only; PerturbedEvaluator carries a perturbation out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "property_tests/oracle/sum_order.h"

namespace kvexact::oracle {

// How e^(s - m) is formed. L is fp32(log2 e), fl() one fp32 rounding; the function of the outermost
// argument then carries the exponential's own error in ulp.
enum class ExpForm : std::uint8_t {
  kExp,              // exp(fl(s - m))
  kExp2,             // exp2(fl(fl(s - m) * L))
  kExp2OfTerms,      // exp2(fl(fl(s * L) - fl(m * L)))
  kExp2OfFusedTerm,  // exp2(fma(s, L, -fl(m * L)))
};

// How an error of at most `limit` ulp is chosen for one operation.
enum class UlpChoice : std::uint8_t {
  kRounded,  // none but the rounding to fp32
  kReal,     // uniform in [-limit, limit]
  kInteger,  // a whole number of ulp
  kCorner,   // the limit, sign at random
  kAimed,    // the limit, with the sign that moves the result where the perturbation aims
};

// Where each column is to move.
enum class Aim : std::uint8_t {
  kUp,
  kDown,
  kOutward,  // away from zero, the mean square up
  kInward,   // towards zero, the mean square down
  kFocus,    // one column in 32 outward, all others inward, rrms up
  kTurn,     // even and odd columns apart, so that rotated values move
  kRandom,
};

enum class Normalise : std::uint8_t {
  kQuotientOfSums,    // sum(w kv) / sum(w)
  kReciprocalOfSum,   // sum(w kv) * fl(1 / sum(w))
  kWeights,           // sum((w / sum(w)) kv)
  kWeightsReciprocal  // sum((w * fl(1 / sum(w))) kv)
};

// Which multiply-adds are contracted.
enum class Contraction : std::uint8_t { kNone, kAll, kRandom, kAimed };

// Which subnormals become zero.
enum class Flush : std::uint8_t { kNone, kAll, kRandom, kInputs, kProducts, kSums, kResults };

enum class ScaleOrder : std::uint8_t { kRrmsFirst, kWeightFirst, kFactorFirst };  // (x r) w, (x w) r, x (r w)

struct Perturbation {
  std::uint64_t seed = 0;
  SumOrder row_order = SumOrder::kForward;
  SumOrder head_order = SumOrder::kForward;
  int row_height = 0;  // additions between a term and the sum; 0: no limit
  int head_height = 0;
  bool own_weight_order = false;  // the weights' sum takes a tree of its own
  ExpForm exp_form = ExpForm::kExp;
  UlpChoice exp = UlpChoice::kRounded;
  double exp_ulp = 2;
  UlpChoice divide = UlpChoice::kRounded;
  double divide_ulp = 2;
  UlpChoice rsqrt = UlpChoice::kRounded;
  double rsqrt_ulp = 2;
  Aim aim = Aim::kUp;
  Normalise normalise = Normalise::kQuotientOfSums;
  bool shrunk_weights = false;  // weights carry 2^-k, the most that is at or below 1 / rows, which the division removes
  Contraction contraction = Contraction::kNone;
  Flush flush = Flush::kNone;
  ScaleOrder scale_order = ScaleOrder::kRrmsFirst;
  int online_rows = 0;  // an online softmax rescales before every so many rows; 0: the maximum comes first
};

// What an error budget admits.
struct Limits {
  double exp_ulp = 2;
  double divide_ulp = 2;
  double rsqrt_ulp = 2;
  int row_height = 0;
  int head_height = 0;
  bool scaled_terms = false;  // ExpForms of separately scaled terms, and only those
  int rescalings = 0;
  bool flush = true;
};

// Anything within the limits; every choice is drawn.
Perturbation DrawPerturbation(std::uint64_t seed, const Limits& limits);

// Adversarial perturbations: every aim with every error at its limit and the worst orders found,
// under both contractions, both exponentials and both normalisations.
std::vector<Perturbation> CornerPerturbations(std::uint64_t seed, const Limits& limits);

// The fields that differ from the defaults, for messages.
std::string Describe(const Perturbation& p);

}  // namespace kvexact::oracle
