// SPDX-License-Identifier: Apache-2.0
#include "property_tests/ports/port_arithmetic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "harness/generate/counter_hash.h"

namespace kvexact::ports {
namespace {

constexpr float kLog2E = 1.4426950408889634F;
constexpr std::size_t kLanes = 8;

// x, or one of its neighbours: a pure function of x.
float Nudged(float x) {
  if (!std::isfinite(x) || x == 0) return x;
  const std::uint64_t random = generate::Mix(std::bit_cast<std::uint32_t>(x));
  if (random % 2 == 0) return x;
  const float target = random % 4 == 1 ? 0 : std::copysign(std::numeric_limits<float>::max(), x);
  return std::nextafter(x, target);
}

float RoundedExp(float d) { return static_cast<float>(std::exp(static_cast<double>(d))); }

// 2^(i/64) from a table, the rest by a polynomial of degree 4 in double: less than an ulp off.
float TableExp(float d) {
  static const std::array<float, 64> table = [] {
    std::array<float, 64> t{};
    for (std::size_t i = 0; i < t.size(); ++i) t[i] = static_cast<float>(std::exp2(static_cast<double>(i) / 64));
    return t;
  }();
  if (!(d > -150)) return d != d ? d : 0.0F;
  const double steps = std::nearbyint(static_cast<double>(d) * 1.4426950408889634 * 64);
  const auto k = static_cast<int>(steps);
  const auto r = static_cast<float>(static_cast<double>(d) - steps * 0.010830424696249145);
  const float p = 1 + r * (1 + r * (0.5F + r * (1.0F / 6 + r / 24)));
  return std::ldexp(table[static_cast<std::size_t>(k & 63)] * p, k >> 6);
}

}  // namespace

float PortArithmetic::Flushed(float x) const {
  return options_->flush && std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}

float PortArithmetic::MultiplyAdd(float a, float b, float c) const {
  if (options_->contract) return Flushed(std::fma(Flushed(a), Flushed(b), Flushed(c)));
  return Add(Multiply(a, b), c);
}

float PortArithmetic::Quotient(float a, float b) const {
  if (options_->reciprocal) return Multiply(a, Flushed(1.0F / Flushed(b)));
  return Flushed(Flushed(a) / Flushed(b));
}

float PortArithmetic::InverseRoot(float x) const {
  if (options_->rsqrt == Rsqrt::kDivision) return Quotient(1.0F, std::sqrt(Flushed(x)));
  return Flushed(Nudged(static_cast<float>(1 / std::sqrt(static_cast<double>(Flushed(x))))));
}

float PortArithmetic::Exp(float score, float max) const {
  const float d = Add(score, -max);
  switch (options_->exp) {
    case ExpForm::kLibm:
      return Flushed(std::exp(d));
    case ExpForm::kTwoUlp:
      return Flushed(Nudged(RoundedExp(d)));
    case ExpForm::kTable:
      return Flushed(TableExp(d));
    case ExpForm::kExp2:
      return Flushed(std::exp2(Multiply(d, kLog2E)));
    case ExpForm::kScaledTerms:
      return Flushed(std::exp2(Add(Multiply(score, kLog2E), -Multiply(max, kLog2E))));
    case ExpForm::kFusedTerm:
      return Flushed(std::exp2(MultiplyAdd(score, kLog2E, -Multiply(max, kLog2E))));
  }
  return d;
}

float PortArithmetic::Term(std::span<const float> x, std::span<const float> y, std::size_t i) const {
  return y.empty() ? Flushed(x[i]) : Multiply(x[i], y[i]);
}

float PortArithmetic::Combine(float a, std::span<const float> x, std::span<const float> y, std::size_t i) const {
  return y.empty() ? Add(a, x[i]) : MultiplyAdd(x[i], y[i], a);
}

float PortArithmetic::Pairwise(std::span<const float> x, std::span<const float> y) const {
  if (x.size() == 1) return Term(x, y, 0);
  const std::size_t half = x.size() / 2;
  const auto rest = y.empty() ? y : y.subspan(half);
  return Add(Pairwise(x.first(half), y.empty() ? y : y.first(half)), Pairwise(x.subspan(half), rest));
}

float PortArithmetic::Kahan(std::span<const float> x, std::span<const float> y) const {
  float sum = 0;
  float lost = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float term = Add(Term(x, y, i), -lost);
    const float next = Add(sum, term);
    lost = std::isfinite(next) ? Add(Add(next, -sum), -term) : 0;
    sum = next;
  }
  return sum;
}

float PortArithmetic::SumOf(std::span<const float> x, std::span<const float> y, SumOrder order) const {
  const std::size_t n = x.size();
  if (n == 0) return 0;
  float sum = 0;
  switch (order) {
    case SumOrder::kForward:
      for (std::size_t i = 0; i < n; ++i) sum = Combine(sum, x, y, i);
      return sum;
    case SumOrder::kReversed:
      for (std::size_t i = n; i-- > 0;) sum = Combine(sum, x, y, i);
      return sum;
    case SumOrder::kPairwise:
      return Pairwise(x, y);
    case SumOrder::kSplit: {
      std::array<float, kLanes> lanes{};
      for (std::size_t i = 0; i < n; ++i) lanes[i % kLanes] = Combine(lanes[i % kLanes], x, y, i);
      for (const float lane : lanes) sum = Add(sum, lane);
      return sum;
    }
    case SumOrder::kKahan:
      return Kahan(x, y);
    case SumOrder::kRandom: {
      std::vector<std::size_t> turn(n);
      for (std::size_t i = 0; i < n; ++i) turn[i] = i;
      generate::Stream(generate::StreamKey(std::bit_cast<std::uint32_t>(x[0]), {n})).Shuffle(turn);
      for (const std::size_t i : turn) sum = Combine(sum, x, y, i);
      return sum;
    }
  }
  return sum;
}

float PortArithmetic::Sum(std::span<const float> terms, SumOrder order) const { return SumOf(terms, {}, order); }

float PortArithmetic::Dot(std::span<const float> a, std::span<const float> b, SumOrder order) const {
  return SumOf(a, b, order);
}

}  // namespace kvexact::ports
