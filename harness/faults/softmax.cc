// SPDX-License-Identifier: Apache-2.0
// The softmax over a window's rows and the weighted sum.
#include <vector>

#include "harness/faults/mean.h"
#include "reference/formats/bf16.h"
#include "reference/formats/encode.h"

namespace kvexact {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// As fp32 holds it: zero below the subnormals, infinity beyond the range.
double Fp32(double x) { return static_cast<float>(x); }
double ToBf16(double x) { return WidenBf16(RoundToBf16(static_cast<float>(x))); }

// Nearest even, beyond 65504 infinity.
double ToFp16(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), -14);
  const double step = std::ldexp(1.0, exponent - 10);
  const double rounded = std::nearbyint(x / step) * step;
  return std::fabs(rounded) > 65504 ? std::copysign(kInf, rounded) : rounded;
}

struct NoMax {
  static ColumnMean Of(const Window& w, int c) {
    double sum = 0;
    for (int r = w.masked; r < w.rows(); ++r) sum = Fp32(sum + Fp32(std::exp(ScoreAt(w, r, c))));
    ColumnMean mean = MeanOf(w, c, true, [&](int r) { return Fp32(std::exp(ScoreAt(w, r, c))); });
    // Weights below the normal range carry few bits.
    const double max = MaxScore(w, c);
    if (sum == kInf) mean.value = std::numeric_limits<double>::quiet_NaN();
    if (max < -80 && max > -110) mean.error = kInf;
    return mean;
  }
};

struct Base2 {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    return MeanOf(w, c, true, [&](int r) { return std::exp2(ScoreAt(w, r, c) - max); });
  }
};

struct FirstColumnsScore {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, 0);
    return MeanOf(w, c, true, [&](int r) { return std::exp(ScoreAt(w, r, 0) - max); });
  }
};

// Weights of a row sum to one over the head, not those of a column over the rows.
struct OverHead {
  template <class A>
  static void Run(const A& a, const Window& w, typename A::Row& row) {
    std::vector<double> max(static_cast<std::size_t>(w.rows()), -kInf);
    std::vector<double> sum(static_cast<std::size_t>(w.rows()), 0);
    for (int r = w.masked; r < w.rows(); ++r) {
      const auto i = static_cast<std::size_t>(r);
      for (int c = 0; c < w.columns; ++c) max[i] = std::max(max[i], ScoreAt(w, r, c));
      for (int c = 0; c < w.columns; ++c) sum[i] += std::exp(ScoreAt(w, r, c) - max[i]);
    }
    Begin(row, w.columns);
    for (int c = 0; c < w.columns; ++c) {
      ColumnMean mean = MeanOf(w, c, false, [&](int r) {
        return std::exp(ScoreAt(w, r, c) - max[static_cast<std::size_t>(r)]) / sum[static_cast<std::size_t>(r)];
      });
      mean.error *= w.columns / 16.0;
      Put(a, row, c, mean);
    }
    End(row);
  }
};

// One maximum for all columns of the window.
struct SharedMax {
  template <class A>
  static void Run(const A& a, const Window& w, typename A::Row& row) {
    double max = -kInf;
    for (int c = 0; c < w.columns; ++c) max = std::max(max, MaxScore(w, c));
    Begin(row, w.columns);
    for (int c = 0; c < w.columns; ++c) {
      ColumnMean mean = MeanOf(w, c, true, [&](int r) { return Fp32(std::exp(ScoreAt(w, r, c) - max)); });
      if (const double top = MaxScore(w, c) - max; top < -80 && top > -110) mean.error = kInf;
      Put(a, row, c, mean);
    }
    End(row);
  }
};

struct FirstRowAsMax {
  static ColumnMean Of(const Window& w, int c) {
    const double max = ScoreAt(w, w.masked, c);
    double sum = 0;
    for (int r = w.masked; r < w.rows(); ++r) sum = Fp32(sum + Fp32(std::exp(ScoreAt(w, r, c) - max)));
    ColumnMean mean = MeanOf(w, c, true, [&](int r) { return Fp32(std::exp(ScoreAt(w, r, c) - max)); });
    if (sum == kInf) mean.value = std::numeric_limits<double>::quiet_NaN();
    return mean;
  }
};

struct Unnormalised {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    return MeanOf(w, c, false, [&](int r) { return std::exp(ScoreAt(w, r, c) - max); });
  }
};

struct PlainMean {
  static ColumnMean Of(const Window& w, int c) {
    return MeanOf(w, c, true, [](int) { return 1.0; });
  }
};

struct HeadScaled {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    const double scale = 1 / std::sqrt(static_cast<double>(w.columns));
    return MeanOf(w, c, true, [&](int r) { return std::exp((ScoreAt(w, r, c) - max) * scale); });
  }
};

// Only the row of the largest score.
struct HardMax {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    return MeanOf(w, c, true, [&](int r) { return ScoreAt(w, r, c) == max ? 1.0 : 0.0; });
  }
};

// An online softmax that does not rescale what it has summed when the maximum rises.
struct NoRescaling {
  static ColumnMean Of(const Window& w, int c) {
    double max = -kInf;
    std::vector<double> weight(static_cast<std::size_t>(w.rows()));
    for (int r = w.masked; r < w.rows(); ++r) {
      max = std::max(max, ScoreAt(w, r, c));
      weight[static_cast<std::size_t>(r)] = max == -kInf ? 0 : std::exp(ScoreAt(w, r, c) - max);
    }
    return MeanOf(w, c, true, [&](int r) { return weight[static_cast<std::size_t>(r)]; });
  }
};

template <double (*kRound)(double)>
struct RoundedWeights {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    double sum = 0;
    for (int r = w.masked; r < w.rows(); ++r) sum += std::exp(ScoreAt(w, r, c) - max);
    return MeanOf(w, c, false, [&](int r) { return kRound(std::exp(ScoreAt(w, r, c) - max) / sum); });
  }
};

struct Bf16Scores {
  static ColumnMean Of(const Window& w, int c) {
    const double max = ToBf16(MaxScore(w, c));
    return MeanOf(w, c, true, [&](int r) { return std::exp(ToBf16(ScoreAt(w, r, c)) - max); });
  }
};

struct Bf16Kv {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    double numerator = 0;
    double denominator = 0;
    for (int r = w.masked; r < w.rows(); ++r) {
      const double weight = std::exp(ScoreAt(w, r, c) - max);
      numerator += weight * ToBf16(KvAt(w, r, c));
      denominator += weight;
    }
    ColumnMean mean = MeanOf(w, c, true, [&](int r) { return std::exp(ScoreAt(w, r, c) - max); });
    mean.value = numerator / denominator;
    return mean;
  }
};

struct Bf16Sums {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    double numerator = 0;
    double denominator = 0;
    for (int r = w.masked; r < w.rows(); ++r) {
      const double weight = std::exp(ScoreAt(w, r, c) - max);
      numerator = ToBf16(numerator + weight * KvAt(w, r, c));
      denominator += weight;
    }
    ColumnMean mean = MeanOf(w, c, true, [&](int r) { return std::exp(ScoreAt(w, r, c) - max); });
    mean.value = numerator / denominator;
    return mean;
  }
};

// The sum of the weights leaves out the last row.
struct ShortDenominator {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    double denominator = 0;
    for (int r = w.masked; r + 1 < w.rows(); ++r) denominator += std::exp(ScoreAt(w, r, c) - max);
    ColumnMean mean = MeanOf(w, c, false, [&](int r) { return std::exp(ScoreAt(w, r, c) - max); });
    mean.value /= denominator;
    mean.error /= denominator;
    return mean;
  }
};

// Eight columns share the weights of the first of them.
struct GroupedScores {
  static ColumnMean Of(const Window& w, int c) {
    const int first = c / 8 * 8;
    const double max = MaxScore(w, first);
    return MeanOf(w, c, true, [&](int r) { return std::exp(ScoreAt(w, r, first) - max); });
  }
};

// Each half of the rows by its own softmax, then their mean.
struct ByHalves {
  static ColumnMean Of(const Window& w, int c) {
    const int middle = w.rows() / 2;
    if (w.masked >= middle) {
      const double max = MaxScore(w, c);
      return MeanOf(w, c, true, [&](int r) { return std::exp(ScoreAt(w, r, c) - max); });
    }
    double max[2] = {-kInf, -kInf};
    double sum[2] = {0, 0};
    for (int r = w.masked; r < w.rows(); ++r) max[r >= middle] = std::max(max[r >= middle], ScoreAt(w, r, c));
    const auto weight = [&](int r) { return std::exp(ScoreAt(w, r, c) - max[r >= middle]); };
    for (int r = w.masked; r < w.rows(); ++r) sum[r >= middle] += weight(r);
    return MeanOf(w, c, false, [&](int r) { return weight(r) / (2 * sum[r >= middle]); });
  }
};

struct NextColumn {
  static ColumnMean Of(const Window& w, int c) {
    const int other = (c + 1) % w.columns;
    const double max = MaxScore(w, other);
    return MeanOf(w, c, true, [&](int r) { return std::exp(ScoreAt(w, r, other) - max); });
  }
};

// Rows far below the maximum do not count.
template <int kDistance>
struct CutOff {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    return MeanOf(w, c, true, [&](int r) {
      const double d = ScoreAt(w, r, c) - max;
      return d < -kDistance ? 0.0 : std::exp(d);
    });
  }
};

// Scores beyond +-kMost become it.
template <int kMost>
struct ClampedScores {
  static ColumnMean Of(const Window& w, int c) {
    const auto score = [&](int r) { return std::fmax(-kMost, std::fmin(kMost, ScoreAt(w, r, c))); };
    double max = -kInf;
    for (int r = w.masked; r < w.rows(); ++r) max = std::max(max, score(r));
    return MeanOf(w, c, true, [&](int r) { return std::exp(score(r) - max); });
  }
};

// A guard against division by zero: a column without weight is 0, not NaN.
struct EmptyColumnIsZero {
  static ColumnMean Of(const Window& w, int c) {
    const double max = MaxScore(w, c);
    if (max == -kInf) return {0, 0};
    return MeanOf(w, c, true, [&](int r) { return std::exp(ScoreAt(w, r, c) - max); });
  }
};

// -inf is held for the lowest finite score.
struct FiniteMinusInfinity {
  static ColumnMean Of(const Window& w, int c) {
    const auto score = [&](int r) { return std::fmax(ScoreAt(w, r, c), -1e30); };
    double max = -1e30;
    for (int r = w.masked; r < w.rows(); ++r) max = std::max(max, score(r));
    return MeanOf(w, c, true, [&](int r) { return std::exp(score(r) - max); });
  }
};

template <class Column>
void Replace(Variant& v) {
  ReplaceMean<MeanStage<Column>>(v);
}

constexpr Fault kRows[] = {
    {"softmax-no-max", "softmax", "no maximum subtracted", "scores of +-100", kGathers, &Replace<NoMax>},
    {"softmax-base2", "softmax", "2^x for e^x", "any", kGathers, &Replace<Base2>},
    {"softmax-over-dims", "softmax", "one softmax weight a row, not one a row and column", "columns that differ",
     kGathers, &Replace<FirstColumnsScore>},
    {"softmax-over-head", "softmax", "softmax over the head, not over the rows", "any", kGathers,
     &ReplaceMean<OverHead>},
    {"softmax-shared-max", "softmax", "one maximum for all columns", "columns whose maxima differ by 90 or more",
     kGathers, &ReplaceMean<SharedMax>},
    {"softmax-first-row-max", "softmax", "the first row's score taken as the maximum", "a later score larger by 89",
     kGathers, &Replace<FirstRowAsMax>},
    {"softmax-grouped", "softmax", "one weight a row for eight columns", "columns that differ", kGathers,
     &Replace<GroupedScores>},
    {"softmax-unnormalised", "softmax", "not divided by the sum of the weights", "any window of two rows", kGathers,
     &Replace<Unnormalised>},
    {"softmax-plain-mean", "softmax", "every row weighs the same", "scores that differ", kGathers, &Replace<PlainMean>},
    {"softmax-head-scaled", "softmax", "scores divided by the square root of the head", "scores that differ", kGathers,
     &Replace<HeadScaled>},
    {"softmax-hard-max", "softmax", "only the row of the largest score", "scores that are near", kGathers,
     &Replace<HardMax>},
    {"softmax-no-rescaling", "softmax", "an online softmax that does not rescale its sums", "scores that rise",
     kGathers, &Replace<NoRescaling>},
    {"softmax-weights-bf16", "softmax", "weights rounded to bf16", "any", kGathers, &Replace<RoundedWeights<&ToBf16>>},
    {"softmax-weights-fp16", "softmax", "weights rounded to fp16", "any", kGathers, &Replace<RoundedWeights<&ToFp16>>},
    {"softmax-scores-bf16", "softmax", "scores rounded to bf16", "scores with low mantissa bits", kGathers,
     &Replace<Bf16Scores>},
    {"softmax-kv-bf16", "softmax", "KV rounded to bf16", "values with low mantissa bits", kGathers, &Replace<Bf16Kv>},
    {"softmax-sums-bf16", "softmax", "accumulates in bf16", "any", kGathers, &Replace<Bf16Sums>},
    {"softmax-by-halves", "softmax", "a softmax of its own for each half of the rows", "halves whose scores differ",
     kGathers, &Replace<ByHalves>},
    {"softmax-next-column", "softmax", "weights of the next column", "columns that differ", kGathers,
     &Replace<NextColumn>},
    {"softmax-cutoff-20", "softmax", "rows more than 20 below the maximum do not count",
     "such a row whose KV is larger by 2^20", kGathers, &Replace<CutOff<20>>},
    {"softmax-cutoff-60", "softmax", "rows more than 60 below the maximum do not count",
     "such a row whose KV is larger by 2^80", kGathers, &Replace<CutOff<60>>},
    {"softmax-scores-clamped", "softmax", "scores clamped to +-100", "scores beyond", kGathers,
     &Replace<ClampedScores<100>>},
    {"softmax-empty-column-zero", "softmax", "a column whose scores are all -inf gives 0, not NaN", "such a column",
     kGathers, &Replace<EmptyColumnIsZero>},
    {"softmax-finite-minus-infinity", "softmax", "-inf stands for a finite score of -1e30",
     "a column whose scores are all -inf", kGathers, &Replace<FiniteMinusInfinity>},
    {"softmax-short-sum", "softmax", "the sum of the weights leaves out the last row", "any", kGathers,
     &Replace<ShortDenominator>},
};

}  // namespace

std::span<const Fault> SoftmaxFaults() { return kRows; }

}  // namespace kvexact
