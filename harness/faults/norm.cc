// SPDX-License-Identifier: Apache-2.0
// RMSNorm over the head.
#include <array>

#include "harness/faults/rows.h"
#include "reference/formats/bf16.h"

namespace kvexact {
namespace {

using Weights = std::span<const float>;

float Bf16(float x) { return WidenBf16(RoundToBf16(x)); }

struct NoEps {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float) {
    RmsNorm(a, row, weight, 0);
  }
};

struct OtherEps {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float) {
    RmsNorm(a, row, weight, 1e-5F);
  }
};

struct DefaultEps {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float) {
    RmsNorm(a, row, weight, 1e-6F);
  }
};

// 1 / f(mean of squares), f in real numbers.
template <class F>
struct OtherRoot {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    const auto mean = a.Divide(a.SumOfSquares(row), row.columns);
    a.Scale(row, Monotone(a, mean, [eps](double x) { return F::Of(x < 0 ? 0 : x, eps); }));
    a.MultiplyBy(row, weight);
  }
};
struct EpsBesideRoot {
  static double Of(double x, double eps) { return 1 / (std::sqrt(x) + eps); }
};
struct EpsOnReciprocal {
  static double Of(double x, double eps) { return 1 / std::sqrt(x > 0 ? x : 0x1p-149) + eps; }
};
struct EpsAsFloor {
  static double Of(double x, double eps) { return 1 / std::sqrt(x > eps ? x : eps); }
};
struct EpsSquared {
  static double Of(double x, double eps) { return 1 / std::sqrt(x + eps * eps); }
};
struct NoRoot {
  static double Of(double x, double eps) { return 1 / (x + eps); }
};
// A 12-bit estimate without a step of Newton's iteration.
struct Estimate {
  static double Of(double x, double eps) { return 1 / std::sqrt(x + eps) * (1 + 0x1p-12); }
};

template <int kNumerator, int kDenominator>
struct OtherWidth {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    const auto sum = a.SumOfSquares(row);
    const double width = static_cast<double>(row.columns) * kNumerator / kDenominator;
    a.Scale(row, Monotone(a, sum, [=](double x) { return 1 / std::sqrt((x < 0 ? 0 : x) / width + eps); }));
    a.MultiplyBy(row, weight);
  }
};

struct Sum {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    a.Scale(row, a.InverseSqrt(a.Add(a.SumOfSquares(row), eps)));
    a.MultiplyBy(row, weight);
  }
};

// The mean of squares over the columns that keep() names, divided by the whole width or by their number.
template <class Keep>
struct SomeColumns {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    typename A::Row kept = row;
    const int columns = row.columns;
    ZeroColumns(a, kept, [columns](int i) { return Keep::Of(i, columns); });
    a.Scale(row, a.InverseSqrt(a.Add(a.Divide(a.SumOfSquares(kept), columns), eps)));
    a.MultiplyBy(row, weight);
  }
};
struct BeforeRope {
  static bool Of(int i, int columns) { return i < columns - 64; }
};
struct FirstHalf {
  static bool Of(int i, int columns) { return i < columns / 2; }
};
struct AllButLast {
  static bool Of(int i, int columns) { return i + 1 < columns; }
};

// Each part of the head by its own mean.
struct PartByPart {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    typename A::Row out = row;
    const int half = row.columns / 2;
    for (const bool second : {false, true}) {
      typename A::Row part = row;
      ZeroColumns(a, part, [=](int i) { return (i >= half) == second; });
      const auto rrms = a.InverseSqrt(a.Add(a.Divide(a.SumOfSquares(part), half), eps));
      a.Scale(part, rrms);
      Restore(out, part, [=](int i) { return (i >= half) != second; });
    }
    row = out;
    a.MultiplyBy(row, weight);
  }
};

struct WeightFirst {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    a.MultiplyBy(row, weight);
    static constexpr std::array<float, kMaxHeadDim> kOnes = [] {
      std::array<float, kMaxHeadDim> ones{};
      for (float& x : ones) x = 1;
      return ones;
    }();
    RmsNorm(a, row, {kOnes.data(), weight.size()}, eps);
  }
};

// Weights changed before they are used.
template <class Change>
struct OtherWeight {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    float changed[kMaxHeadDim];
    for (std::size_t i = 0; i < weight.size(); ++i) changed[i] = Change::Of(weight, i);
    RmsNorm(a, row, {changed, weight.size()}, eps);
  }
};
struct Ones {
  static float Of(Weights, std::size_t) { return 1; }
};
struct PlusOne {
  static float Of(Weights w, std::size_t i) { return w[i] + 1; }
};
struct Squared {
  static float Of(Weights w, std::size_t i) { return w[i] * w[i]; }
};
struct NextWeight {
  static float Of(Weights w, std::size_t i) { return w[(i + 1) % w.size()]; }
};
struct FirstWeight {
  static float Of(Weights w, std::size_t) { return w[0]; }
};
struct HalvedIndex {
  static float Of(Weights w, std::size_t i) { return w[i % (w.size() / 2)]; }
};
struct OnRopeAlone {
  static float Of(Weights w, std::size_t i) { return i + 64 < w.size() ? 1.0F : w[i]; }
};
struct NotOnRope {
  static float Of(Weights w, std::size_t i) { return i + 64 < w.size() ? w[i] : 1.0F; }
};
struct TwiceBeforeRope {
  static float Of(Weights w, std::size_t i) { return i + 64 < w.size() ? w[i] * w[i] : w[i]; }
};
struct RoundedWeight {
  static float Of(Weights w, std::size_t i) { return Bf16(w[i]); }
};

struct RoundedBeforeWeight {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    a.Scale(row, a.InverseSqrt(a.Add(a.Divide(a.SumOfSquares(row), row.columns), eps)));
    RoundColumns(a, row, 0, row.columns, &Bf16);
    a.MultiplyBy(row, weight);
  }
};

struct RoundedInput {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    RoundColumns(a, row, 0, row.columns, &Bf16);
    RmsNorm(a, row, weight, eps);
  }
};

struct RoundedRoot {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    const auto mean = a.Divide(a.SumOfSquares(row), row.columns);
    a.Scale(row, Monotone(a, mean,
                          [eps](double x) { return Bf16(static_cast<float>(1 / std::sqrt((x < 0 ? 0 : x) + eps))); }));
    a.MultiplyBy(row, weight);
  }
};

struct Absent {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float) {
    a.MultiplyBy(row, weight);
  }
};

struct RopeUnnormed {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    const typename A::Row given = row;
    RmsNorm(a, row, weight, eps);
    const int first = row.columns - 64;
    Restore(row, given, [first](int i) { return i < first; });
  }
};

// The variance of rounded values; the values themselves as they are.
struct RoundedSquares {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    typename A::Row rounded = row;
    RoundColumns(a, rounded, 0, row.columns, &Bf16);
    a.Scale(row, a.InverseSqrt(a.Add(a.Divide(a.SumOfSquares(rounded), row.columns), eps)));
    a.MultiplyBy(row, weight);
  }
};

// A sum of squares that overflows at 65504 leaves nothing.
struct Fp16Sum {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    const int columns = row.columns;
    a.Scale(row, Monotone(a, a.SumOfSquares(row),
                          [=](double x) { return x > 65504 ? 0 : 1 / std::sqrt((x < 0 ? 0 : x) / columns + eps); }));
    a.MultiplyBy(row, weight);
  }
};

// Column i and how far it may be off.
EnclosedValue ColumnAt(const Strict::Row& row, int i) { return {row.value[i], 0}; }
EnclosedValue ColumnAt(const Enclosure::Row& row, int i) { return Enclosure::At(row, i); }
float ScalarOf(const Strict&, const EnclosedValue& value) { return static_cast<float>(value.mid); }
EnclosedValue ScalarOf(const Enclosure&, const EnclosedValue& value) { return value; }
void Subtract(Strict::Row& row, const EnclosedValue& x) {
  for (int i = 0; i < row.columns; ++i) row.value[i] -= static_cast<float>(x.mid);
}
void Subtract(Enclosure::Row& row, const EnclosedValue& x) {
  Flatten(row);
  for (int i = 0; i < row.columns; ++i) {
    row.mid[i] -= x.mid;
    row.rad[i] += x.rad + std::fabs(row.mid[i]) * 0x1p-23;
  }
}

// Squares of what is left when the mean is taken off, as in LayerNorm; with kShift the values too.
template <bool kShift>
struct Centred {
  template <class A>
  static void Run(const A& a, typename A::Row& row, Weights weight, float eps) {
    EnclosedValue mean;
    double magnitude = 0;
    for (int i = 0; i < row.columns; ++i) {
      const EnclosedValue x = ColumnAt(row, i);
      mean.mid += x.mid / row.columns;
      mean.rad += x.rad / row.columns;
      magnitude += std::fabs(x.mid) / row.columns;
    }
    mean.rad += magnitude * 0x1p-19;
    double square = 0;
    double error = 0;
    for (int i = 0; i < row.columns; ++i) {
      const EnclosedValue x = ColumnAt(row, i);
      const double d = x.mid - mean.mid;
      const double off = x.rad + mean.rad;
      square += d * d / row.columns;
      error += (2 * std::fabs(d) * off + off * off) / row.columns;
    }
    const auto variance = ScalarOf(a, {square, error + square * 0x1p-19});
    if (kShift) Subtract(row, mean);
    a.Scale(row, Monotone(a, variance, [eps](double x) { return 1 / std::sqrt((x < 0 ? 0 : x) + eps); }));
    a.MultiplyBy(row, weight);
  }
};

constexpr Fault kRows[] = {
    {"norm-no-eps", "norm", "eps left out", "mean square near eps", kStores, &ReplaceNorm<NoEps>},
    {"norm-eps-1e-5", "norm", "eps 1e-5 whatever was asked for", "mean square near eps", kStores,
     &ReplaceNorm<OtherEps>},
    {"norm-eps-fixed", "norm", "eps 1e-6 whatever was asked for", "another eps, mean square near it", kStores,
     &ReplaceNorm<DefaultEps>},
    {"norm-eps-beside-root", "norm", "1 / (sqrt(mean) + eps)", "mean square near eps", kStores,
     &ReplaceNorm<OtherRoot<EpsBesideRoot>>},
    {"norm-eps-on-reciprocal", "norm", "1 / sqrt(mean) + eps", "mean square near eps, or large", kStores,
     &ReplaceNorm<OtherRoot<EpsOnReciprocal>>},
    {"norm-eps-floor", "norm", "max(mean, eps) for mean + eps", "mean square near eps", kStores,
     &ReplaceNorm<OtherRoot<EpsAsFloor>>},
    {"norm-eps-squared", "norm", "mean + eps^2", "mean square near eps", kStores, &ReplaceNorm<OtherRoot<EpsSquared>>},
    {"norm-no-root", "norm", "1 / (mean + eps)", "any", kStores, &ReplaceNorm<OtherRoot<NoRoot>>},
    {"norm-estimate", "norm", "a 12-bit estimate of the reciprocal root", "any", kStores,
     &ReplaceNorm<OtherRoot<Estimate>>},
    {"norm-sum", "norm", "sum instead of mean of squares", "any", kStores, &ReplaceNorm<Sum>},
    {"norm-wrong-width", "norm", "divides by the head without its RoPE dims", "any", kStores,
     &ReplaceNorm<OtherWidth<7, 8>>},
    {"norm-width-minus-one", "norm", "divides by head - 1", "any", kStores, &ReplaceNorm<OtherWidth<511, 512>>},
    {"norm-before-rope-only", "norm", "squares of the RoPE dims left out", "any", kStores,
     &ReplaceNorm<SomeColumns<BeforeRope>>},
    {"norm-half-head", "norm", "squares of the first half only", "any", kStores, &ReplaceNorm<SomeColumns<FirstHalf>>},
    {"norm-skip-last", "norm", "the last square left out", "a large last column", kStores,
     &ReplaceNorm<SomeColumns<AllButLast>>},
    {"norm-by-halves", "norm", "each half of the head by its own mean", "halves that differ", kStores,
     &ReplaceNorm<PartByPart>},
    {"norm-none", "norm", "not normalised", "any", kStores, &ReplaceNorm<Absent>},
    {"norm-rope-unnormed", "norm", "the last 64 dims are neither normalised nor weighted", "any", kStores,
     &ReplaceNorm<RopeUnnormed>},
    {"norm-weight-first", "norm", "weight multiplied before the variance", "weights that differ", kStores,
     &ReplaceNorm<WeightFirst>},
    {"norm-weight-bf16", "norm", "x * rrms rounded to bf16 before the weight", "weights not powers of two", kStores,
     &ReplaceNorm<RoundedBeforeWeight>},
    {"norm-weight-rounded", "norm", "fp32 weights rounded to bf16", "fp32 weights with low mantissa bits", kStores,
     &ReplaceNorm<OtherWeight<RoundedWeight>>},
    {"norm-weight-missing", "norm", "weight not applied", "weights unlike 1", kStores, &ReplaceNorm<OtherWeight<Ones>>},
    {"norm-weight-plus-one", "norm", "1 + weight", "any", kStores, &ReplaceNorm<OtherWeight<PlusOne>>},
    {"norm-weight-twice", "norm", "weight applied twice", "weights unlike 1", kStores,
     &ReplaceNorm<OtherWeight<Squared>>},
    {"norm-weight-twice-nope", "norm", "weight applied twice before the last 64 dims", "weights unlike 1", kStores,
     &ReplaceNorm<OtherWeight<TwiceBeforeRope>>},
    {"norm-weight-shifted", "norm", "weight of the next column", "weights that differ", kStores,
     &ReplaceNorm<OtherWeight<NextWeight>>},
    {"norm-weight-first-column", "norm", "weight of column 0 for all", "weights that differ", kStores,
     &ReplaceNorm<OtherWeight<FirstWeight>>},
    {"norm-weight-half", "norm", "weights of the first half for both", "weights that differ", kStores,
     &ReplaceNorm<OtherWeight<HalvedIndex>>},
    {"norm-weight-rope-only", "norm", "weight on the last 64 dims alone", "weights unlike 1", kStores,
     &ReplaceNorm<OtherWeight<OnRopeAlone>>},
    {"norm-weight-not-rope", "norm", "no weight on the last 64 dims", "weights unlike 1", kStores,
     &ReplaceNorm<OtherWeight<NotOnRope>>},
    {"norm-input-bf16", "norm", "compressed values rounded to bf16 first", "values with low mantissa bits", kStores,
     &ReplaceNorm<RoundedInput>},
    {"norm-squares-bf16", "norm", "squares of values rounded to bf16", "values with low mantissa bits", kStores,
     &ReplaceNorm<RoundedSquares>},
    {"norm-sum-fp16", "norm", "the sum of squares overflows at 65504", "a sum of squares beyond", kStores,
     &ReplaceNorm<Fp16Sum>},
    {"norm-centred-squares", "norm", "variance about the mean, as LayerNorm takes it", "a mean unlike 0", kStores,
     &ReplaceNorm<Centred<false>>},
    {"norm-layer-norm", "norm", "the mean taken off the values too", "a mean unlike 0", kStores,
     &ReplaceNorm<Centred<true>>},
    {"norm-rrms-bf16", "norm", "reciprocal root rounded to bf16", "any", kStores, &ReplaceNorm<RoundedRoot>},
};

}  // namespace

std::span<const Fault> NormFaults() { return kRows; }

}  // namespace kvexact
