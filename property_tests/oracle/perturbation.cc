// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/perturbation.h"

#include <sstream>

namespace kvexact::oracle {
namespace {

template <class Enum>
Enum Draw(Random& random, int count) {
  return static_cast<Enum>(random.Below(count));
}

ExpForm DrawExpForm(Random& random, const Limits& limits) {
  const bool second = random.Coin();
  if (limits.scaled_terms) return second ? ExpForm::kExp2OfFusedTerm : ExpForm::kExp2OfTerms;
  return second ? ExpForm::kExp2 : ExpForm::kExp;
}

Perturbation Within(std::uint64_t seed, const Limits& limits) {
  Perturbation p;
  p.seed = seed;
  p.row_height = limits.row_height;
  p.head_height = limits.head_height;
  p.exp_ulp = limits.exp_ulp;
  p.divide_ulp = limits.divide_ulp;
  p.rsqrt_ulp = limits.rsqrt_ulp;
  return p;
}

}  // namespace

Perturbation DrawPerturbation(std::uint64_t seed, const Limits& limits) {
  Random random(seed);
  Perturbation p = Within(seed, limits);
  constexpr int kOrders = static_cast<int>(SumOrder::kWorst) + 1;
  p.row_order = Draw<SumOrder>(random, kOrders);
  p.head_order = Draw<SumOrder>(random, kOrders);
  p.own_weight_order = random.Coin();
  p.exp_form = DrawExpForm(random, limits);
  p.exp = Draw<UlpChoice>(random, 5);
  p.divide = Draw<UlpChoice>(random, 5);
  p.rsqrt = Draw<UlpChoice>(random, 5);
  p.aim = Draw<Aim>(random, 7);
  p.normalise = Draw<Normalise>(random, 4);
  p.contraction = Draw<Contraction>(random, 4);
  p.flush = limits.flush ? Draw<Flush>(random, 7) : Flush::kNone;
  p.shrunk_weights = random.Coin();
  p.scale_order = ScaleOrder::kRrmsFirst;
  if (limits.rescalings > 0 && random.Below(4) != 0) p.online_rows = 1 << random.Below(4);
  return p;
}

std::vector<Perturbation> CornerPerturbations(std::uint64_t seed, const Limits& limits) {
  Random random(seed);
  std::vector<Perturbation> all;
  for (const Aim aim : {Aim::kUp, Aim::kDown, Aim::kOutward, Aim::kInward, Aim::kFocus, Aim::kTurn}) {
    for (const Normalise normalise : {Normalise::kQuotientOfSums, Normalise::kWeights}) {
      Perturbation p = Within(random.Bits(), limits);
      p.aim = aim;
      p.normalise = normalise;
      p.row_order = p.head_order = SumOrder::kWorst;
      p.own_weight_order = true;
      p.exp_form = DrawExpForm(random, limits);
      p.exp = p.divide = p.rsqrt = UlpChoice::kAimed;
      p.contraction = Contraction::kAimed;
      p.flush = limits.flush ? Flush::kRandom : Flush::kNone;
      if (limits.rescalings > 0 && normalise == Normalise::kQuotientOfSums) p.online_rows = 1;
      all.push_back(p);
    }
  }
  return all;
}

std::string Describe(const Perturbation& p) {
  const Perturbation plain;
  std::ostringstream out;
  out << "seed=" << p.seed;
  const auto field = [&out](const char* name, auto value, auto standard) {
    if (value != standard) out << ' ' << name << '=' << static_cast<double>(value);
  };
  field("row_order", p.row_order, plain.row_order);
  field("head_order", p.head_order, plain.head_order);
  field("row_height", p.row_height, plain.row_height);
  field("head_height", p.head_height, plain.head_height);
  field("own_weight_order", p.own_weight_order, plain.own_weight_order);
  field("exp_form", p.exp_form, plain.exp_form);
  field("exp", p.exp, plain.exp);
  field("exp_ulp", p.exp_ulp, plain.exp_ulp);
  field("divide", p.divide, plain.divide);
  field("divide_ulp", p.divide_ulp, plain.divide_ulp);
  field("rsqrt", p.rsqrt, plain.rsqrt);
  field("rsqrt_ulp", p.rsqrt_ulp, plain.rsqrt_ulp);
  field("aim", p.aim, plain.aim);
  field("normalise", p.normalise, plain.normalise);
  field("shrunk_weights", p.shrunk_weights, plain.shrunk_weights);
  field("contraction", p.contraction, plain.contraction);
  field("flush", p.flush, plain.flush);
  field("scale_order", p.scale_order, plain.scale_order);
  field("online_rows", p.online_rows, plain.online_rows);
  return out.str();
}

}  // namespace kvexact::oracle
