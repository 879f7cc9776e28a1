// SPDX-License-Identifier: Apache-2.0
#include "reference/numerics/enclosure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/numerics/special_columns.h"
#include "reference/spec/strict_numerics.h"

namespace kvexact {
namespace {

constexpr double kUnit = 0x1p-24;
constexpr double kSlack = 0x1p-48;  // covers the double arithmetic of one step
constexpr double kMaxFp32 = std::numeric_limits<float>::max();
// Fp32 sums and products at or beyond this round to infinity; below kSurelyFinite they cannot have,
// whatever 2^-20 of relative error came before.
constexpr double kSurelyFinite = 0x1p128 * (1 - 0x1p-20);
constexpr double kSurelyInfinite = 0x1p128 * (1 + 0x1p-20);

double Binade(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7FF0000000000000ULL); }

// Largest rounding error of a result of magnitude at most x.
double HalfUlp(double x) { return kUnit * Binade(std::fabs(x)); }

// Bound on the errors of adding the squares in any binary tree. The k-th smallest node of a tree has
// at most k + 1 leaves, so it is at most the sum of the k + 1 largest squares; the squares are taken in
// buckets of one eighth of a binade, by their upper edges.
double AnyOrderSquares(const Enclosure::Row& row, double total) {
  constexpr int kBuckets = 256;
  constexpr int kShift = 20;  // keeps three mantissa bits of a float
  int count[kBuckets] = {};
  double sum[kBuckets] = {};
  std::uint32_t top = 0;
  std::uint32_t key[kMaxHeadDim];
  double square[kMaxHeadDim];
  for (int i = 0; i < row.columns; ++i) {
    const double magnitude = std::fabs(row.mid[i]) + row.rad[i];
    square[i] = magnitude * magnitude;
    // Beyond fp32's range the key saturates; the bucket's edge is then the total.
    key[i] = std::bit_cast<std::uint32_t>(static_cast<float>(std::min(square[i], kMaxFp32))) >> kShift;
    top = std::max(top, key[i]);
  }
  for (int i = 0; i < row.columns; ++i) {
    const std::uint32_t bucket = std::min<std::uint32_t>(top - key[i], kBuckets - 1);
    ++count[bucket];
    sum[bucket] += square[i];
  }
  double below = 0;
  double error = 0;
  bool first = true;
  for (int b = 0; b < kBuckets; ++b) {
    if (count[b] == 0) continue;
    const std::uint32_t edge_key = (top - static_cast<std::uint32_t>(b)) + 1;
    const double edge = edge_key >= 0x7F8U ? total : std::bit_cast<float>(edge_key << kShift);
    const double end = std::min(total, (below + sum[b]) * (1 + kSlack));
    for (int i = 1; i <= count[b]; ++i) {
      const double node = std::min(end, below + i * edge);
      if (!first) error += HalfUlp(node * (1 + 0x1p-14));
      first = false;
    }
    below = end;
  }
  return error;
}

// Classes of a column whose unnormalised sums may overflow (see ColumnKernels::enclose_mean).
std::uint8_t OverflowClasses(unsigned char overflow) {
  return static_cast<std::uint8_t>(kFinite | ((overflow & 1) != 0 ? kPosInf : 0) | ((overflow & 2) != 0 ? kNegInf : 0) |
                                   (overflow >= 3 ? kNan : 0));
}

EnclosedValue WithOverflow(EnclosedValue value) {
  if ((value.classes & kFinite) == 0) return value;
  if (value.mid + value.rad >= kSurelyFinite) value.classes |= kPosInf;
  if (value.mid - value.rad <= -kSurelyFinite) value.classes |= kNegInf;
  if (std::fabs(value.mid) - value.rad >= kSurelyInfinite) value.classes &= static_cast<std::uint8_t>(~kFinite);
  return value;
}

// What flushing, or rounding below the normal range, may take from a result within mid +- rad.
double Underflow(double mid, double rad, double limit) {
  const double magnitude = std::fabs(mid);
  if (magnitude - rad >= 0x1p-126) return 0;
  return std::min(magnitude + rad, limit);
}

EnclosedValue Exact(float x) {
  EnclosedValue value;
  if (std::isnan(x)) {
    value.classes = kNan;
  } else if (std::isinf(x)) {
    value.classes = x > 0 ? kPosInf : kNegInf;
  } else {
    value.mid = x;
  }
  return value;
}

bool MayBeZero(const EnclosedValue& v) {
  return (v.classes & kZero) != 0 || ((v.classes & kFinite) != 0 && std::fabs(v.mid) <= v.rad);
}
bool MayBePositive(const EnclosedValue& v) {
  return (v.classes & kPosInf) != 0 || ((v.classes & kFinite) != 0 && v.mid + v.rad > 0);
}
bool MayBeNegative(const EnclosedValue& v) {
  return (v.classes & kNegInf) != 0 || ((v.classes & kFinite) != 0 && v.mid - v.rad < 0);
}

// Classes of a product of values, not both plainly finite; the interval is the caller's.
std::uint8_t ProductClasses(const EnclosedValue& a, const EnclosedValue& b) {
  constexpr std::uint8_t kInf = kPosInf | kNegInf;
  std::uint8_t out = (a.classes | b.classes) & kNan;
  const bool a_inf = (a.classes & kInf) != 0;
  const bool b_inf = (b.classes & kInf) != 0;
  if ((a_inf && MayBeZero(b)) || (b_inf && MayBeZero(a))) out |= kNan;
  const auto signs = [&](const EnclosedValue& infinite, const EnclosedValue& other) {
    if ((infinite.classes & kPosInf) != 0) {
      if (MayBePositive(other)) out |= kPosInf;
      if (MayBeNegative(other)) out |= kNegInf;
    }
    if ((infinite.classes & kNegInf) != 0) {
      if (MayBePositive(other)) out |= kNegInf;
      if (MayBeNegative(other)) out |= kPosInf;
    }
  };
  if (a_inf) signs(a, b);
  if (b_inf) signs(b, a);
  if ((a.classes & kFinite) != 0 && (b.classes & kFinite) != 0) out |= kFinite;
  const std::uint8_t numbers = kFinite | kZero;
  if (((a.classes & kZero) != 0 && (b.classes & numbers) != 0) ||
      ((b.classes & kZero) != 0 && (a.classes & numbers) != 0)) {
    out |= kZero;
  }
  return out;
}

// The same where a subnormal operand may count as zero: zero times infinity is NaN.
std::uint8_t ProductClasses(const EnclosedValue& a, const EnclosedValue& b, bool flush) {
  constexpr std::uint8_t kInf = kPosInf | kNegInf;
  const auto may_be_subnormal = [](const EnclosedValue& v) {
    return (v.classes & kFinite) != 0 && std::fabs(v.mid) - v.rad < 0x1p-126;
  };
  const bool vanishes =
      ((a.classes & kInf) != 0 && may_be_subnormal(b)) || ((b.classes & kInf) != 0 && may_be_subnormal(a));
  return static_cast<std::uint8_t>(ProductClasses(a, b) | (flush && vanishes ? kNan : 0));
}

// Classes of a sum.
std::uint8_t SumClasses(std::uint8_t a, std::uint8_t b) {
  std::uint8_t out = (a | b) & kNan;
  if (((a & kPosInf) != 0 && (b & kNegInf) != 0) || ((a & kNegInf) != 0 && (b & kPosInf) != 0)) out |= kNan;
  const std::uint8_t numbers = kFinite | kZero;
  out |= (b & (kPosInf | kNegInf)) != 0 && (a & (numbers | b)) != 0 ? b & (kPosInf | kNegInf) : 0;
  out |= (a & (kPosInf | kNegInf)) != 0 && (b & (numbers | a)) != 0 ? a & (kPosInf | kNegInf) : 0;
  if ((a & kFinite) != 0 && (b & numbers) != 0) out |= kFinite;
  if ((b & kFinite) != 0 && (a & numbers) != 0) out |= kFinite;
  if ((a & kZero) != 0 && (b & kZero) != 0) out |= kZero;
  return out;
}

// Set after any step that may have changed the classes.
void MarkPlain(Enclosure::Row& row) {
  row.plain = std::all_of(row.classes, row.classes + row.columns, [](std::uint8_t c) { return c == kFinite; });
}

}  // namespace

Enclosure::Enclosure(const Budget& budget, const ColumnKernels& kernels)
    : budget_(&budget), kernels_(&kernels), underflow_(budget.flush ? 0x1p-126 : 0x1p-149) {
  const bool scaled = budget.argument == ExpArgument::kScaledTerms;
  // The strict model, which must lie inside, takes the rounded difference; others then round it anew.
  const bool rounds_difference = scaled || budget.rescalings > 0;
  model_ = {budget.exp_ulp,
            budget.exp_slope + (rounds_difference ? 1 : 0),
            scaled ? 1.0 : 0.0,
            budget.divide_ulp,
            budget.row_tree_height,
            static_cast<double>(budget.rescalings),
            budget.flush ? 0x1p-126 : 0,
            0x1p-149,
            budget.flush ? 0x1p-126 : 0};
  rows_ = {budget.flush ? 0x1p-126 : 0, underflow_};
}

void Enclosure::WeightedMean(const Window& window, Row& out) const {
  const int rows = window.rows();
  const auto columns = static_cast<std::size_t>(window.columns);
  out.columns = window.columns;
  out.common = 0;

  const std::size_t needed = static_cast<std::size_t>(std::max(0, rows - window.masked)) * kEncloseWorkspace;
  if (workspace_.size() < needed) workspace_.resize(needed);
  std::uint8_t overflow[kMaxHeadDim] = {};
  ColumnErrorModel model = model_;
  model.gradual = std::ldexp(model_.gradual, spec::WeightShift(rows));
  model.flush = std::ldexp(model_.flush, spec::WeightShift(rows));

  const bool finite = rows > window.masked &&
                      kernels_->all_finite(window.score.data(), window.kv.data(), window.masked, rows, window.columns);
  if (finite) {
    kernels_->enclose_mean(model, window.score.data(), window.kv.data(), window.masked, rows, window.columns,
                           workspace_.data(), out.mid, out.rad, overflow);
  } else if (rows > window.masked) {
    const FiniteWindow kept(window);
    kernels_->enclose_mean(model, kept.score(), kept.kv(), window.masked, rows, window.columns, workspace_.data(),
                           out.mid, out.rad, overflow);
  }
  for (std::size_t c = 0; c < columns; ++c) out.classes[c] = OverflowClasses(overflow[c]);
  if (!finite) {
    for (std::size_t c = 0; c < columns; ++c) {
      const std::uint8_t classes = SpecialClasses(window, c, model);
      if (classes == 0) continue;
      out.mid[c] = 0;
      out.rad[c] = (classes & kFinite) != 0 ? kMaxFp32 : 0;
      out.classes[c] = classes;
    }
  }
  MarkPlain(out);
}

void Enclosure::Assign(std::span<const float> values, Row& out) const {
  out.columns = static_cast<int>(values.size());
  out.common = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const EnclosedValue value = Exact(values[i]);
    out.mid[i] = value.mid;
    out.rad[i] = 0;
    out.classes[i] = value.classes;
  }
  MarkPlain(out);
}

EnclosedValue Enclosure::SumOfSquares(const Row& row) const {
  EnclosedValue out;
  double sum = 0;
  double spread = 0;    // from the columns' own enclosures
  double products = 0;  // rounding of the squares where they are not fused
  std::uint8_t may = 0;
  bool finite = true;
  bool certain_nan = false;
  for (int i = 0; i < row.columns; ++i) {
    const std::uint8_t classes = row.classes[i];
    may |= classes;
    certain_nan |= classes == kNan;
    finite &= (classes & kFinite) != 0;
    const double square = row.mid[i] * row.mid[i];
    const double widened = (2 * std::fabs(row.mid[i]) + row.rad[i]) * row.rad[i];
    sum += square;
    spread += widened;
    products += HalfUlp((square + widened) * (1 + kSlack));
  }
  if (certain_nan) {
    out.classes = kNan;
    return out;
  }
  const double total = (sum + spread + products) * (1 + 0x1p-14);
  double additions = AnyOrderSquares(row, total);
  if (budget_->head_tree_height > 0) additions = std::min(additions, budget_->head_tree_height * kUnit * total);
  out.mid = sum;
  out.rad = spread + (products + additions) * (1 + 0x1p-14) + sum * row.columns * kSlack +
            row.columns * 2 * Underflow(sum, 0, underflow_);
  out.classes = static_cast<std::uint8_t>((finite ? kFinite : 0) | ((may & (kPosInf | kNegInf)) != 0 ? kPosInf : 0) |
                                          (may & kNan));
  if (out.mid + out.rad >= kSurelyFinite) out.classes |= kPosInf;
  if (out.mid - out.rad >= kSurelyInfinite) out.classes &= static_cast<std::uint8_t>(~kFinite);
  return out;
}

EnclosedValue Enclosure::Divide(Value a, int divisor) const {
  a.mid /= divisor;
  a.rad /= divisor;
  a.rad += Underflow(a.mid, a.rad, underflow_);
  return a;
}

EnclosedValue Enclosure::Add(Value a, float b) const {
  a.mid += b;
  a.rad += HalfUlp((std::fabs(a.mid) + a.rad) * (1 + kSlack)) + std::fabs(a.mid) * kSlack;
  a.rad += Underflow(a.mid, a.rad, underflow_);
  return WithOverflow(a);
}

EnclosedValue Enclosure::InverseSqrt(Value a) const {
  EnclosedValue out;
  out.classes = static_cast<std::uint8_t>((a.classes & (kFinite | kNan)) | ((a.classes & kPosInf) != 0 ? kZero : 0));
  if ((a.classes & kFinite) == 0) return out;
  const double low = a.mid - a.rad;
  // A mean square so small that it may be flushed to zero has an infinite reciprocal.
  if (low < 0x1p-126) out.classes |= kPosInf;
  const double high = 1 / std::sqrt(std::max(low, 0x1p-149));
  const double least = 1 / std::sqrt(a.mid + a.rad);
  out.mid = 0.5 * (high + least);
  out.rad = 0.5 * (high - least) + budget_->rsqrt_ulp * 2 * HalfUlp(high * (1 + 0x1p-12)) + high * kSlack;
  return out;
}

// The further error of a * b where the operand a may be subnormal and count as zero.
double Enclosure::FlushedOperand(double mid, double rad, double factor) const {
  return budget_->flush ? Underflow(mid, rad, underflow_) * std::fabs(factor) : 0;
}

void Enclosure::Scale(Row& row, Value factor) const {
  const double common = factor.rad / std::fabs(factor.mid);
  const double size = std::fabs(factor.mid) + factor.rad;
  if (row.plain && factor.classes == kFinite && common < 0x1p-8 &&
      kernels_->reach(row.mid, row.rad, row.columns) * (1 + row.common) * size < 0.5 * kSurelyFinite) {
    kernels_->enclose_scale(rows_, row.mid, row.rad, row.columns, factor.mid);
    // (1 + a)(1 + b) - 1 for the two common factors.
    row.common = row.common + common + row.common * common;
    return;
  }
  ScaleAny(row, factor);
  MarkPlain(row);
}

void Enclosure::ScaleAny(Row& row, const Value& factor) const {
  const double common = factor.rad / std::fabs(factor.mid);
  const bool plain = factor.classes == kFinite && common < 0x1p-8;
  const double magnitude = std::fabs(factor.mid);
  for (int i = 0; i < row.columns; ++i) {
    const EnclosedValue x{row.mid[i], row.rad[i], row.classes[i]};
    const double mid = x.mid * factor.mid;
    const double rounding = kUnit * (std::fabs(mid) + x.rad * magnitude) * (1 + 0x1p-7) +
                            Underflow(mid, x.rad * magnitude + std::fabs(mid) * 0x1p-7, underflow_);
    row.mid[i] = mid;
    row.rad[i] = x.rad * magnitude + rounding + std::fabs(mid) * kSlack + FlushedOperand(x.mid, x.rad, factor.mid);
    // Where the factor is hardly known, its uncertainty is no small common one: every column carries its own.
    if (!plain) row.rad[i] += (std::fabs(x.mid) + x.rad) * factor.rad;
    const EnclosedValue product{row.mid[i], row.rad[i], x.classes};
    row.classes[i] = x.classes == kFinite && factor.classes == kFinite
                         ? WithOverflow(product).classes
                         : static_cast<std::uint8_t>(ProductClasses(x, factor, budget_->flush));
  }
  if (plain) row.common = row.common + common + row.common * common;
}

void Enclosure::MultiplyBy(Row& row, std::span<const float> factors) const {
  float most = 0;
  bool finite = true;
  for (const float factor : factors) {
    most = std::max(most, std::fabs(factor));
    finite &= std::isfinite(factor);
  }
  if (row.plain && finite &&
      kernels_->reach(row.mid, row.rad, row.columns) * (1 + row.common) * most < 0.5 * kSurelyFinite) {
    kernels_->enclose_multiply(rows_, row.mid, row.rad, row.columns, factors.data(), row.common);
    return;
  }
  MultiplyAny(row, factors);
  MarkPlain(row);
}

void Enclosure::MultiplyAny(Row& row, std::span<const float> factors) const {
  for (int i = 0; i < row.columns; ++i) {
    const EnclosedValue factor = Exact(factors[static_cast<std::size_t>(i)]);
    const EnclosedValue x{row.mid[i], row.rad[i], row.classes[i]};
    const double mid = x.mid * factor.mid;
    const double magnitude = std::fabs(factor.mid);
    const double widened = (std::fabs(mid) + x.rad * magnitude) * (1 + row.common) * (1 + kSlack);
    row.mid[i] = mid;
    row.rad[i] = x.rad * magnitude + HalfUlp(widened) * (1 + row.common) + std::fabs(mid) * kSlack;
    row.rad[i] += Underflow(mid, row.rad[i] + std::fabs(mid) * row.common, underflow_);
    row.rad[i] += FlushedOperand(factor.mid, 0, std::fabs(x.mid) + x.rad);
    const EnclosedValue product{row.mid[i], row.rad[i] + std::fabs(mid) * row.common, x.classes};
    row.classes[i] = x.classes == kFinite && factor.classes == kFinite
                         ? WithOverflow(product).classes
                         : static_cast<std::uint8_t>(ProductClasses(x, factor, budget_->flush));
  }
}

void Enclosure::RotatePairs(Row& row, int first, int pairs, const float* cos, const float* sin) const {
  float most = 0;
  bool finite = true;
  for (int i = 0; i < pairs; ++i) {
    most = std::max({most, std::fabs(cos[i]), std::fabs(sin[i])});
    finite &= std::isfinite(cos[i]) && std::isfinite(sin[i]);
  }
  double* mid = row.mid + first;
  double* rad = row.rad + first;
  if (row.plain && finite && kernels_->reach(mid, rad, 2 * pairs) * (1 + row.common) * most < 0.25 * kSurelyFinite) {
    kernels_->enclose_rotate(rows_, mid, rad, pairs, cos, sin, row.common);
    return;
  }
  for (int i = 0; i < pairs; ++i) RotateAny(row, first + 2 * i, cos[i], sin[i]);
  MarkPlain(row);
}

void Enclosure::RotateAny(Row& row, int i, float cos, float sin) const {
  const EnclosedValue x{row.mid[i], row.rad[i], row.classes[i]};
  const EnclosedValue y{row.mid[i + 1], row.rad[i + 1], row.classes[i + 1]};
  const EnclosedValue c = Exact(cos);
  const EnclosedValue s = Exact(sin);
  const double grow = (1 + row.common) * (1 + kSlack);
  // a * p + b * q with either product, or none, rounded on its own before the addition.
  const auto combine = [&](const EnclosedValue& a, const EnclosedValue& p, const EnclosedValue& b,
                           const EnclosedValue& q) {
    const double first = a.mid * p.mid;
    const double second = b.mid * q.mid;
    const double spread = a.rad * std::fabs(p.mid) + b.rad * std::fabs(q.mid);
    EnclosedValue out;
    out.mid = first + second;
    // Multiplying by 0, 1 or -1 rounds nothing.
    const auto product_error = [&](double product, double rad, double factor) {
      const double magnitude = std::fabs(factor);
      return magnitude == 0 || magnitude == 1 ? 0 : HalfUlp((std::fabs(product) + rad * magnitude) * grow);
    };
    const double products = product_error(first, a.rad, p.mid) + product_error(second, b.rad, q.mid);
    const double widened = (std::fabs(out.mid) + spread + products) * grow;
    const bool exact_sum = (p.mid == 0 || q.mid == 0) && products == 0;
    out.rad = spread + (products + (exact_sum ? 0 : HalfUlp(widened))) * grow +
              (std::fabs(first) + std::fabs(second)) * kSlack;
    const double reach = (std::fabs(first) + std::fabs(second)) * row.common;
    out.rad += Underflow(first, a.rad * std::fabs(p.mid) + reach, underflow_) +
               Underflow(second, b.rad * std::fabs(q.mid) + reach, underflow_);
    out.rad += Underflow(out.mid, out.rad + reach, underflow_);
    out.rad += FlushedOperand(a.mid, a.rad, p.mid) + FlushedOperand(b.mid, b.rad, q.mid) +
               FlushedOperand(p.mid, 0, std::fabs(a.mid) + a.rad) + FlushedOperand(q.mid, 0, std::fabs(b.mid) + b.rad);
    // Either product, or both, are rounded before the addition; a rounded one may overflow although the
    // sum does not: then inf, or inf - inf.
    const auto rounded = [&](const EnclosedValue& value, const EnclosedValue& factor, double product) {
      const double rad = value.rad * std::fabs(factor.mid) + std::fabs(product) * row.common;
      return WithOverflow({product, rad, ProductClasses(value, factor, budget_->flush)}).classes;
    };
    const std::uint8_t first_rounded = rounded(a, p, first);
    const std::uint8_t second_rounded = rounded(b, q, second);
    const std::uint8_t classes = SumClasses(first_rounded, second_rounded) |
                                 SumClasses(ProductClasses(a, p, budget_->flush), second_rounded) |
                                 SumClasses(first_rounded, ProductClasses(b, q, budget_->flush)) |
                                 SumClasses(ProductClasses(a, p, budget_->flush), ProductClasses(b, q, budget_->flush));
    out.classes = WithOverflow({out.mid, out.rad + std::fabs(out.mid) * row.common, classes}).classes;
    return out;
  };
  const EnclosedValue minus_s{
      -s.mid, 0,
      static_cast<std::uint8_t>((s.classes & (kFinite | kNan)) | ((s.classes & kPosInf) != 0 ? kNegInf : 0) |
                                ((s.classes & kNegInf) != 0 ? kPosInf : 0))};
  const EnclosedValue even = combine(x, c, y, minus_s);
  const EnclosedValue odd = combine(y, c, x, s);
  row.mid[i] = even.mid;
  row.rad[i] = even.rad;
  row.classes[i] = even.classes;
  row.mid[i + 1] = odd.mid;
  row.rad[i + 1] = odd.rad;
  row.classes[i + 1] = odd.classes;
}

EnclosedValue Enclosure::At(const Row& row, int i) {
  const double magnitude = std::fabs(row.mid[i]);
  return {row.mid[i], row.rad[i] * (1 + row.common) + magnitude * row.common, row.classes[i]};
}

Fp32Interval Enclosure::ToFp32(const EnclosedValue& value) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const auto low = value.mid - value.rad;
  const auto high = value.mid + value.rad;
  float lo = static_cast<float>(std::clamp(low, -kMaxFp32, kMaxFp32));
  float hi = static_cast<float>(std::clamp(high, -kMaxFp32, kMaxFp32));
  if (lo < low) lo = std::nextafter(lo, kInf);
  if (hi > high) hi = std::nextafter(hi, -kInf);
  // An interval that holds no fp32 number belongs to none; its nearest one stands for it.
  if (lo > hi) lo = hi = static_cast<float>(std::clamp(value.mid, -kMaxFp32, kMaxFp32));
  return {lo, hi, value.classes};
}

void Enclosure::ToFp32(const Row& row, int first, int count, float* lo, float* hi) const {
  kernels_->to_fp32(row.mid + first, row.rad + first, row.common, count, lo, hi);
}

}  // namespace kvexact
