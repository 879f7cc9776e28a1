// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/enclosed_stages.h"

#include <cstdio>
#include <stdexcept>

namespace kvexact::oracle {
namespace {

LiveToken Live(const CompressInputs& in, std::int64_t token) {
  LiveToken live;
  if (!SeedStages().locate(in, token, live)) throw std::logic_error("the token is not live");
  return live;
}

template <class A>
void Start(const A& a, const CompressInputs& in, const LiveToken& token, TokenWorkspace<A>& work) {
  if (in.op == spec::Operation::kFinalize) {
    a.Assign({in.scratch.row(token.index).data(), static_cast<std::size_t>(in.head_dim)}, work.row);
  } else {
    CompressColumns(SeedStages(), a, in, token, work);
  }
}

std::vector<EnclosedValue> Values(const Enclosure::Row& row) {
  std::vector<EnclosedValue> out;
  for (int i = 0; i < row.columns; ++i) out.push_back(Enclosure::At(row, i));
  return out;
}

std::vector<float> Values(const Strict::Row& row) { return {row.value, row.value + row.columns}; }

template <class A, class Out>
Out RunStages(const A& a, const CompressInputs& in, std::int64_t index) {
  const LiveToken token = Live(in, index);
  TokenWorkspace<A> work;
  Out out;
  Start(a, in, token, work);
  out.columns = Values(work.row);
  if (in.op == spec::Operation::kGatherSplit) return out;
  out.sum_squares = a.SumOfSquares(work.row);
  out.rrms = a.InverseSqrt(a.Add(a.Divide(out.sum_squares, work.row.columns), in.rms_norm_eps));
  const auto& stages = SeedStages().over(a);
  stages.rms_norm(a, work.row, {in.norm_weight.data(), static_cast<std::size_t>(in.norm_weight.size())},
                  in.rms_norm_eps);
  out.normed = Values(work.row);
  stages.rope(a, work.row, AnglesOf(SeedStages(), in, token.position));
  out.rotated = Values(work.row);
  return out;
}

}  // namespace

EnclosedStages Enclose(const CompressInputs& in, std::int64_t token, const Budget& budget) {
  return RunStages<Enclosure, EnclosedStages>(Enclosure(budget), in, token);
}

PerturbedToken EvaluateStrict(const CompressInputs& in, std::int64_t token) {
  return RunStages<Strict, PerturbedToken>(Strict(), in, token);
}

bool Holds(const EnclosedValue& e, float x) {
  if (std::isnan(x)) return (e.classes & kNan) != 0;
  if (std::isinf(x)) return (e.classes & (x > 0 ? kPosInf : kNegInf)) != 0;
  if (x == 0 && (e.classes & kZero) != 0) return true;
  return (e.classes & kFinite) != 0 && std::fabs(static_cast<double>(x) - e.mid) <= e.rad;
}

bool Holds(const EnclosedValue& e, const Wide& x) {
  if (x.IsNan()) return (e.classes & kNan) != 0;
  if (x.IsInf()) return (e.classes & (x.IsNegative() ? kNegInf : kPosInf)) != 0;
  if (x.IsZero() && (e.classes & kZero) != 0) return true;
  return (e.classes & kFinite) != 0 && Abs(x - Wide(e.mid)) <= Wide(e.rad) + Scale(Wide(1.0), -150);
}

std::string ToString(const EnclosedValue& e) {
  char text[96];
  std::snprintf(text, sizeof text, "%.17g +- %.3g classes 0x%02X", e.mid, e.rad, e.classes);
  return text;
}

}  // namespace kvexact::oracle
