// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/perturbed_evaluator.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "property_tests/oracle/ulp.h"

namespace kvexact::oracle {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kLog2EOfFp32 = static_cast<float>(1.4426950408889634074);

double SignOf(double x) { return x < 0 ? -1.0 : 1.0; }

// The thresholds below which inputs, products, sums and results become zero.
class FlushRule {
 public:
  FlushRule(Flush flush, Random& random) : flush_(flush), random_(random) {}

  float Inputs() { return Pick(Flush::kInputs); }
  float Products() { return Pick(Flush::kProducts); }
  float Sums() { return Pick(Flush::kSums); }
  float Results() { return Pick(Flush::kResults); }

 private:
  float Pick(Flush kind) {
    if (flush_ == Flush::kNone) return 0;
    if (flush_ == Flush::kRandom) return random_.Coin() ? FLT_MIN : 0;
    return flush_ == Flush::kAll || flush_ == kind ? FLT_MIN : 0;
  }

  Flush flush_;
  Random& random_;
};

// Terms a[i] * b[i], or a[i] where there is no b; `width` independent sums side by side, term i of sum c
// at [i * width + c].
struct Terms {
  const float* a;
  const float* b;
  std::size_t width;
  int count;

  float Product(std::size_t at) const { return b == nullptr ? a[at] : a[at] * b[at]; }
};

class Summation {
 public:
  Summation(const Perturbation& p, FlushRule& flush, Random& random) : p_(p), flush_(flush), random_(random) {}

  // All `width` sums along one tree.
  void Along(const SumTree& tree, const Terms& terms, float* out) {
    const std::size_t width = terms.width;
    sums_.resize(width * static_cast<std::size_t>(terms.count));
    for (const Merge& m : tree.merges) {
      float* into = sums_.data() + static_cast<std::size_t>(m.into) * width;
      float* from = sums_.data() + static_cast<std::size_t>(m.from) * width;
      bool fuse_from = m.from_is_term && Contracts(terms);
      bool fuse_into = m.into_is_term && !fuse_from && Contracts(terms);
      if (m.into_is_term && !fuse_into) Multiply(terms, m.into, into);
      if (m.from_is_term && !fuse_from) Multiply(terms, m.from, from);
      const float threshold = flush_.Sums();
      if (fuse_from) {
        FusedAdd(terms, m.from, into, into, threshold);
      } else if (fuse_into) {
        FusedAdd(terms, m.into, from, into, threshold);
      } else {
        for (std::size_t c = 0; c < width; ++c) into[c] = Flushed(into[c] + from[c], threshold);
      }
    }
    if (tree.merges.empty()) Multiply(terms, 0, sums_.data());
    const float* root = sums_.data() + static_cast<std::size_t>(tree.root) * width;
    std::copy(root, root + width, out);
  }

  // Sum c alone, in an order that its terms decide, pushed towards `direction`.
  float ByTerms(SumOrder order, int height, const Terms& terms, std::size_t c, double direction) {
    const int n = terms.count;
    const int partials = PartialsWithin(n, height);
    order_.resize(static_cast<std::size_t>(n));
    std::iota(order_.begin(), order_.end(), 0);
    product_.resize(static_cast<std::size_t>(n));
    exact_.resize(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
      const std::size_t at = At(terms, i, c);
      product_[Index(i)] = terms.Product(at);
      exact_[Index(i)] =
          static_cast<double>(terms.a[at]) * (terms.b == nullptr ? 1.0 : static_cast<double>(terms.b[at]));
    }
    // A NaN counts as zero: sorting needs a strict order, and the sum is NaN in any.
    const auto magnitude = [this](int i) {
      const float x = std::fabs(product_[Index(i)]);
      return std::isnan(x) ? 0.0F : x;
    };
    if (order == SumOrder::kAscending) {
      std::sort(order_.begin(), order_.end(), [&](int i, int j) { return magnitude(i) < magnitude(j); });
    } else if (order == SumOrder::kDescending) {
      std::sort(order_.begin(), order_.end(), [&](int i, int j) { return magnitude(i) > magnitude(j); });
    } else {
      ArrangeForLargeSums();
    }
    // A sum that holds a NaN is NaN in any order, and a NaN has no place in one.
    const bool plan = order == SumOrder::kWorst && random_.Coin() &&
                      std::none_of(product_.begin(), product_.end(), [](float x) { return !std::isfinite(x); });
    const float product_threshold = flush_.Products();
    const float sum_threshold = flush_.Sums();
    partial_.resize(static_cast<std::size_t>(partials));
    std::size_t next = 0;
    for (int j = 0; j < partials; ++j) {
      const int length = (n - j + partials - 1) / partials;
      if (plan) PlanBinades(next, next + Index(length), direction);
      float sum = Flushed(product_[Index(order_[next++])], product_threshold);
      for (int k = 1; k < length; ++k) {
        if (order == SumOrder::kWorst && !plan) PickWorst(terms, next, sum, direction);
        const int i = order_[next++];
        sum = Flushed(Add(terms, i, c, sum, direction, product_threshold), sum_threshold);
      }
      partial_[Index(j)] = sum;
    }
    for (int count = partials; count > 1; count = (count + 1) / 2) {
      const int half = (count + 1) / 2;
      for (int j = half; j < count; ++j) {
        partial_[Index(j - half)] = Flushed(partial_[Index(j - half)] + partial_[Index(j)], sum_threshold);
      }
    }
    return partial_[0];
  }

 private:
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  static std::size_t At(const Terms& terms, int i, std::size_t c) { return Index(i) * terms.width + c; }

  bool Contracts(const Terms& terms) {
    if (terms.b == nullptr || p_.contraction == Contraction::kNone) return false;
    return p_.contraction == Contraction::kAll || random_.Coin();
  }

  void Multiply(const Terms& terms, int i, float* out) {
    const float threshold = flush_.Products();
    const std::size_t base = Index(i) * terms.width;
    for (std::size_t c = 0; c < terms.width; ++c) out[c] = Flushed(terms.Product(base + c), threshold);
  }

  void FusedAdd(const Terms& terms, int i, const float* other, float* into, float threshold) {
    const std::size_t base = Index(i) * terms.width;
    for (std::size_t c = 0; c < terms.width; ++c) {
      into[c] = Flushed(std::fma(terms.a[base + c], terms.b[base + c], other[c]), threshold);
    }
  }

  // One addition of a chain, contracted or not; of both the better for the aim where contraction is aimed.
  float Add(const Terms& terms, int i, std::size_t c, float sum, double direction, float product_threshold) {
    const float separate = sum + Flushed(product_[Index(i)], product_threshold);
    if (terms.b == nullptr || p_.contraction == Contraction::kNone) return separate;
    const float fused = std::fma(terms.a[At(terms, i, c)], terms.b[At(terms, i, c)], sum);
    if (p_.contraction == Contraction::kAll) return fused;
    if (p_.contraction == Contraction::kRandom) return random_.Coin() ? fused : separate;
    return direction * static_cast<double>(fused) > direction * static_cast<double>(separate) ? fused : separate;
  }

  // Large sums early make large rounding errors: by magnitude, or all of one sign first.
  void ArrangeForLargeSums() {
    const double positive = random_.Coin() ? 1 : -1;
    const bool by_magnitude = random_.Coin();
    const auto key = [&](int i) {
      const double x = product_[Index(i)];
      return by_magnitude ? std::fabs(x) : positive * x;
    };
    // A NaN has no place in an order; such a sum is NaN in any.
    if (std::any_of(product_.begin(), product_.end(), [](float x) { return std::isnan(x); })) return;
    std::sort(order_.begin(), order_.end(), [&](int i, int j) { return key(i) > key(j); });
  }

  // Orders terms [first, last) of a chain so that rounding errors add up. While the sum stays within a
  // binade its grid is fixed, and so is the error of adding a term, whatever came before: what an order
  // decides is in which binade a term is added. From the top binade down, the terms that err most in the
  // right direction for their size fill it.
  void PlanBinades(std::size_t first, std::size_t last, double direction) {
    double total = 0;
    for (std::size_t at = first; at < last; ++at) total += exact_[Index(order_[at])];
    const double sign = SignOf(total);
    // Terms of the other sign come last, where they take the sum down again.
    const auto same = [&](int i) { return exact_[Index(i)] * sign > 0; };
    const auto begin = order_.begin() + static_cast<std::ptrdiff_t>(first);
    auto end = std::partition(begin, order_.begin() + static_cast<std::ptrdiff_t>(last), same);
    total = 0;
    for (auto i = begin; i != end; ++i) total += std::fabs(exact_[Index(*i)]);
    gain_.resize(exact_.size());
    while (end - begin > 2 && total >= FLT_MIN) {
      const double binade = std::exp2(std::floor(std::log2(total)));
      const double grid = binade * 0x1p-23;
      for (auto i = begin; i != end; ++i) {
        const double x = std::fabs(exact_[Index(*i)]);
        gain_[Index(*i)] = sign * direction * (std::nearbyint(x / grid) * grid - x) / x;
      }
      std::sort(begin, end, [&](int i, int j) { return gain_[Index(i)] < gain_[Index(j)]; });
      double mass = total - binade;
      do {
        --end;
        mass -= std::fabs(exact_[Index(*end)]);
        total -= std::fabs(exact_[Index(*end)]);
      } while (end - begin > 2 && mass > 0);
    }
  }

  // Brings to order_[next] the one of a few candidates whose addition errs most towards `direction`.
  // A product is exact in double, so that a contracted addition is one double addition away from exact.
  void PickWorst(const Terms& terms, std::size_t next, float sum, double direction) {
    const bool may_fuse = terms.b != nullptr && p_.contraction != Contraction::kNone;
    const bool may_separate = p_.contraction != Contraction::kAll;
    const std::size_t candidates = terms.width == 1 ? 48 : 12;
    const std::size_t end = std::min(order_.size(), next + candidates);
    std::size_t best = next;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t at = next; at < end; ++at) {
      const std::size_t i = Index(order_[at]);
      const double before = sum;
      double error = -std::numeric_limits<double>::infinity();
      if (may_fuse)
        error = direction * (static_cast<double>(static_cast<float>(before + exact_[i])) - before - exact_[i]);
      if (may_separate) {
        error = std::max(error, direction * (static_cast<double>(sum + product_[i]) - before - exact_[i]));
      }
      if (error > most) {
        most = error;
        best = at;
      }
    }
    std::swap(order_[next], order_[best]);
  }

  const Perturbation& p_;
  FlushRule& flush_;
  Random& random_;
  std::vector<float> sums_;
  std::vector<int> order_;
  std::vector<float> product_;
  std::vector<double> exact_;  // products before rounding
  std::vector<double> gain_;   // error of adding a term, relative to its size, in the right direction
  std::vector<float> partial_;
};

// The fp32 argument of the exponential, and whether its base is two.
double ExactExp(ExpForm form, float s, float m) {
  switch (form) {
    case ExpForm::kExp:
      return std::exp(static_cast<double>(s - m));
    case ExpForm::kExp2:
      return std::exp2(static_cast<double>((s - m) * kLog2EOfFp32));
    case ExpForm::kExp2OfTerms:
      return std::exp2(static_cast<double>(s * kLog2EOfFp32 - m * kLog2EOfFp32));
    case ExpForm::kExp2OfFusedTerm:
      return std::exp2(static_cast<double>(std::fma(s, kLog2EOfFp32, -(m * kLog2EOfFp32))));
  }
  return 0;
}

// Size of one error in ulp; `aimed` is the sign that the aim asks for.
double DrawUlp(UlpChoice choice, double limit, double aimed, Random& random) {
  switch (choice) {
    case UlpChoice::kRounded:
      return 0;
    case UlpChoice::kReal:
      return limit * random.Signed();
    case UlpChoice::kInteger: {
      const int whole = static_cast<int>(limit);
      return random.Between(-whole, whole);
    }
    case UlpChoice::kCorner:
      return random.Coin() ? limit : -limit;
    case UlpChoice::kAimed:
      return aimed * limit;
  }
  return 0;
}

// RoPE of one pair under a contraction and thresholds.
struct Rotated {
  float even, odd;
};

Rotated RotatePair(float e, float o, float cos, float sin, Contraction contraction, FlushRule& flush, Random& random) {
  const float product = flush.Products();
  const float sum = flush.Sums();
  const bool fused = contraction == Contraction::kAll || (contraction >= Contraction::kRandom && random.Coin());
  Rotated r{};
  if (!fused) {
    r = {Flushed(e * cos, product) - Flushed(o * sin, product), Flushed(o * cos, product) + Flushed(e * sin, product)};
  } else if (contraction == Contraction::kAll || random.Coin()) {
    r = {std::fma(e, cos, -Flushed(o * sin, product)), std::fma(o, cos, Flushed(e * sin, product))};
  } else {
    r = {std::fma(-o, sin, Flushed(e * cos, product)), std::fma(e, sin, Flushed(o * cos, product))};
  }
  return {Flushed(r.even, sum), Flushed(r.odd, sum)};
}

}  // namespace

// One evaluation.
class PerturbedEvaluator::Run {
 public:
  Run(PerturbedEvaluator& evaluator, const Perturbation& p)
      : e_(evaluator),
        t_(evaluator.token_),
        p_(p),
        random_(p.seed),
        flush_(p.flush, random_),
        sum_(p, flush_, random_) {}

  PerturbedToken Evaluate() {
    ChooseDirections();
    PerturbedToken out;
    out.columns = t_.op == spec::Operation::kFinalize ? ReadyColumns() : Columns();
    if (t_.norm_weight.empty()) return out;
    Normalise(out);
    Rotate(out);
    out.smallest_factor = flush_.Results() > 0 ? SmallestFactor::kFlushed : SmallestFactor::kKept;
    return out;
  }

 private:
  // +1 or -1 a column: where its value is to move; and where rrms is.
  void ChooseDirections() {
    direction_.resize(e_.head_);
    rrms_direction_ = random_.Coin() ? 1 : -1;
    if (p_.aim == Aim::kOutward || p_.aim == Aim::kFocus) rrms_direction_ = 1;
    if (p_.aim == Aim::kInward) rrms_direction_ = -1;
    for (std::size_t d = 0; d < e_.head_; ++d) {
      const double outward = SignOf(e_.center_[d]);
      double turn = d % 2 == 0 ? 1 : -1;
      if (const int at = static_cast<int>(d) - (t_.head_dim - t_.rope_dim); at >= 0 && !t_.cos.empty()) {
        const auto pair = static_cast<std::size_t>(at / 2);
        turn = d % 2 == 0 ? SignOf(t_.cos[pair]) : -SignOf(t_.sin[pair]);
      }
      switch (p_.aim) {
        case Aim::kUp:
          direction_[d] = 1;
          break;
        case Aim::kDown:
          direction_[d] = -1;
          break;
        case Aim::kOutward:
          direction_[d] = outward;
          break;
        case Aim::kInward:
          direction_[d] = -outward;
          break;
        case Aim::kFocus:
          direction_[d] = random_.Below(32) == 0 ? outward : -outward;
          break;
        case Aim::kTurn:
          direction_[d] = turn;
          break;
        case Aim::kRandom:
          direction_[d] = random_.Coin() ? 1 : -1;
          break;
      }
    }
  }

  void ReadInputs() {
    kv_ = t_.kv;
    for (std::size_t r = 0; r < e_.rows_; ++r) {
      const float threshold = flush_.Inputs();
      float* row = kv_.data() + r * e_.head_;
      for (std::size_t d = 0; d < e_.head_; ++d) row[d] = Flushed(row[d], threshold);
    }
  }

  std::vector<float> ReadyColumns() {
    std::vector<float> columns = t_.ready_columns;
    const float threshold = flush_.Inputs();
    for (float& x : columns) x = Flushed(x, threshold);
    return columns;
  }

  std::vector<float> Columns() {
    ReadInputs();
    if (p_.online_rows > 0) return OnlineColumns();
    Weights();
    const std::size_t head = e_.head_;
    std::vector<float> denominator(head);
    std::vector<float> numerator(head);
    const int rows = t_.rows;
    SumTree tree;
    if (!LooksAtTerms(p_.row_order)) tree = MakeSumTree(p_.row_order, rows, p_.row_height, random_);
    const Terms weights{weight_.data(), nullptr, head, rows};
    if (LooksAtTerms(p_.row_order)) {
      for (std::size_t d = 0; d < head; ++d) {
        denominator[d] = sum_.ByTerms(p_.row_order, p_.row_height, weights, d, -direction_[d] * SignOf(e_.center_[d]));
      }
    } else if (p_.own_weight_order) {
      sum_.Along(MakeSumTree(p_.row_order, rows, p_.row_height, random_), weights, denominator.data());
    } else {
      sum_.Along(tree, weights, denominator.data());
    }
    const bool before = p_.normalise == Normalise::kWeights || p_.normalise == Normalise::kWeightsReciprocal;
    if (before) DivideWeights(denominator);
    const Terms products{weight_.data(), kv_.data(), head, rows};
    if (LooksAtTerms(p_.row_order)) {
      for (std::size_t d = 0; d < head; ++d) {
        numerator[d] = sum_.ByTerms(p_.row_order, p_.row_height, products, d, direction_[d]);
      }
    } else {
      sum_.Along(tree, products, numerator.data());
    }
    if (before) return numerator;
    const float threshold = flush_.Results();
    for (std::size_t d = 0; d < head; ++d) {
      numerator[d] = Flushed(Quotient(numerator[d], denominator[d], direction_[d] * SignOf(numerator[d])), threshold);
    }
    return numerator;
  }

  // num / den, moved outward for outward > 0.
  float Quotient(float num, float den, double outward) {
    if (p_.normalise == Normalise::kReciprocalOfSum || p_.normalise == Normalise::kWeightsReciprocal) {
      return num * (1.0F / den);
    }
    const double exact = static_cast<double>(num) / static_cast<double>(den);
    const double k = DrawUlp(p_.divide, p_.divide_ulp, outward * SignOf(exact), random_);
    return WithUlpError(exact, k, p_.divide_ulp);
  }

  void DivideWeights(const std::vector<float>& denominator) {
    for (std::size_t r = 0; r < e_.rows_; ++r) {
      const float threshold = flush_.Results();
      float* w = weight_.data() + r * e_.head_;
      const float* x = kv_.data() + r * e_.head_;
      for (std::size_t d = 0; d < e_.head_; ++d) {
        w[d] = Flushed(Quotient(w[d], denominator[d], direction_[d] * SignOf(x[d])), threshold);
      }
    }
  }

  void Weights() {
    const std::vector<double>& exact = e_.ExactWeights(p_.exp_form);
    weight_.resize(exact.size());
    const float factor = p_.shrunk_weights ? 1.0F / static_cast<float>(std::bit_ceil(e_.rows_)) : 1.0F;
    for (std::size_t r = 0; r < e_.rows_; ++r) {
      const float threshold = flush_.Results();
      for (std::size_t d = 0; d < e_.head_; ++d) {
        const std::size_t at = r * e_.head_ + d;
        const double aimed = direction_[d] * SignOf(static_cast<double>(kv_[at]) - e_.center_[d]);
        const double k = DrawUlp(p_.exp, p_.exp_ulp, aimed, random_);
        weight_[at] = Flushed(WithUlpError(exact[at], k, p_.exp_ulp) * factor, threshold);
      }
    }
  }

  std::vector<float> OnlineColumns() {
    const std::size_t head = e_.head_;
    const int rows = t_.rows;
    std::vector<int> order(e_.rows_);
    std::iota(order.begin(), order.end(), 0);
    if (p_.row_order == SumOrder::kReverse) std::reverse(order.begin(), order.end());
    if (p_.row_order >= SumOrder::kShuffled) {
      for (std::size_t i = order.size(); i > 1; --i) {
        std::swap(order[i - 1], order[static_cast<std::size_t>(random_.Below(static_cast<int>(i)))]);
      }
    }
    std::vector<float> out(head);
    for (std::size_t d = 0; d < head; ++d) {
      const float product_threshold = flush_.Products();
      const float sum_threshold = flush_.Sums();
      const float result_threshold = flush_.Results();
      float max = -kInf;
      float num = 0;
      float den = 0;
      for (int at = 0; at < rows; at += p_.online_rows) {
        const std::span<const int> chunk = std::span(order).subspan(
            static_cast<std::size_t>(at), static_cast<std::size_t>(std::min(p_.online_rows, rows - at)));
        float most = max;
        for (const int r : chunk) most = std::fmax(most, t_.score[static_cast<std::size_t>(r) * head + d]);
        if (max != -kInf && (most != max || !random_.Coin())) {
          const double drift = static_cast<double>(num) / static_cast<double>(den) - e_.center_[d];
          const float factor = OnlineExp(max, most, direction_[d] * SignOf(drift), result_threshold);
          num = Flushed(num * factor, product_threshold);
          den = Flushed(den * factor, product_threshold);
        }
        max = most;
        for (const int r : chunk) {
          const std::size_t x = static_cast<std::size_t>(r) * head + d;
          const double aimed = direction_[d] * SignOf(static_cast<double>(kv_[x]) - e_.center_[d]);
          // While every score was -inf the weights are e^(-inf - 0) = 0, as such kernels take care to have it.
          const float w = OnlineExp(t_.score[x], max == -kInf ? 0.0F : max, aimed, result_threshold);
          den = Flushed(den + w, sum_threshold);
          const float separate = num + Flushed(w * kv_[x], product_threshold);
          const float fused = std::fma(w, kv_[x], num);
          bool contract = p_.contraction == Contraction::kAll;
          if (p_.contraction == Contraction::kRandom) contract = random_.Coin();
          if (p_.contraction == Contraction::kAimed) contract = direction_[d] * (fused - separate) > 0;
          num = Flushed(contract ? fused : separate, sum_threshold);
        }
      }
      out[d] = Flushed(Quotient(num, den, direction_[d] * SignOf(num)), result_threshold);
    }
    return out;
  }

  float OnlineExp(float s, float m, double aimed, float threshold) {
    const double k = DrawUlp(p_.exp, p_.exp_ulp, aimed, random_);
    return Flushed(WithUlpError(ExactExp(p_.exp_form, s, m), k, p_.exp_ulp), threshold);
  }

  void Normalise(PerturbedToken& out) {
    const Terms squares{out.columns.data(), out.columns.data(), 1, t_.head_dim};
    if (LooksAtTerms(p_.head_order)) {
      out.sum_squares = sum_.ByTerms(p_.head_order, p_.head_height, squares, 0, -rrms_direction_);
    } else {
      sum_.Along(MakeSumTree(p_.head_order, t_.head_dim, p_.head_height, random_), squares, &out.sum_squares);
    }
    const float mean = Flushed(out.sum_squares / static_cast<float>(t_.head_dim), flush_.Results());
    const float v = Flushed(mean + Flushed(t_.eps, flush_.Inputs()), flush_.Sums());
    const double k = DrawUlp(p_.rsqrt, p_.rsqrt_ulp, rrms_direction_, random_);
    out.rrms = Flushed(WithUlpError(1 / std::sqrt(static_cast<double>(v)), k, p_.rsqrt_ulp), flush_.Results());

    out.normed.resize(e_.head_);
    const float input = flush_.Inputs();
    const float product = flush_.Products();
    const float result = flush_.Results();
    for (std::size_t d = 0; d < e_.head_; ++d) {
      const float x = out.columns[d];
      const float w = Flushed(t_.norm_weight[d], input);
      float y = 0;
      switch (p_.scale_order) {
        case ScaleOrder::kRrmsFirst:
          y = Flushed(x * out.rrms, product) * w;
          break;
        case ScaleOrder::kWeightFirst:
          y = Flushed(x * w, product) * out.rrms;
          break;
        case ScaleOrder::kFactorFirst:
          y = x * Flushed(out.rrms * w, product);
          break;
      }
      out.normed[d] = Flushed(y, result);
    }
  }

  void Rotate(PerturbedToken& out) {
    out.rotated = out.normed;
    const auto first = static_cast<std::size_t>(t_.head_dim - t_.rope_dim);
    for (std::size_t e = t_.RotatesEveryPair() ? 0 : first; e < e_.head_; e += 2) {
      const float input = flush_.Inputs();
      const float cos = e < first ? 1.0F : Flushed(t_.cos[(e - first) / 2], input);
      const float sin = e < first ? 0.0F : Flushed(t_.sin[(e - first) / 2], input);
      const Rotated r = RotatePair(out.normed[e], out.normed[e + 1], cos, sin, p_.contraction, flush_, random_);
      out.rotated[e] = r.even;
      out.rotated[e + 1] = r.odd;
    }
  }

  PerturbedEvaluator& e_;
  const CompressToken& t_;
  const Perturbation& p_;
  Random random_;
  FlushRule flush_;
  Summation sum_;
  std::vector<double> direction_;
  double rrms_direction_ = 1;
  std::vector<float> kv_;
  std::vector<float> weight_;
};

PerturbedEvaluator::PerturbedEvaluator(const CompressToken& token)
    : token_(token), head_(static_cast<std::size_t>(token.head_dim)), rows_(static_cast<std::size_t>(token.rows)) {
  if (token.op == spec::Operation::kFinalize) {
    center_.assign(token.ready_columns.begin(), token.ready_columns.end());
    return;
  }
  max_.assign(head_, -kInf);
  for (std::size_t i = 0; i < token.score.size(); ++i) max_[i % head_] = std::fmax(max_[i % head_], token.score[i]);
  std::vector<double> denominator(head_, 0.0);
  center_.assign(head_, 0.0);
  const std::vector<double>& exact = ExactWeights(ExpForm::kExp);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    denominator[i % head_] += exact[i];
    center_[i % head_] += exact[i] * static_cast<double>(token.kv[i]);
  }
  for (std::size_t d = 0; d < head_; ++d) center_[d] /= denominator[d];
}

const std::vector<double>& PerturbedEvaluator::ExactWeights(ExpForm form) {
  std::vector<double>& exact = exact_[static_cast<std::size_t>(form)];
  if (!exact.empty()) return exact;
  exact.resize(token_.score.size());
  for (std::size_t i = 0; i < exact.size(); ++i) exact[i] = ExactExp(form, token_.score[i], max_[i % head_]);
  return exact;
}

PerturbedToken PerturbedEvaluator::Evaluate(const Perturbation& p) { return Run(*this, p).Evaluate(); }

StoredToken StorePerturbed(const CompressToken& token, const PerturbedToken& value) {
  std::vector<std::uint16_t> normed;
  std::vector<std::uint16_t> rotated;
  for (const float x : value.normed) normed.push_back(Bf16Of(x));
  for (const float x : value.rotated) rotated.push_back(Bf16Of(x));
  return StoreToken(token.op, normed, rotated, value.smallest_factor);
}

PerturbedQ EvaluateQ(const QHead& head, const Perturbation& p) {
  Random random(p.seed);
  FlushRule flush(p.flush, random);
  PerturbedQ out;
  out.rotated = head.q;
  const auto first = static_cast<std::size_t>(head.head_dim - head.rope_dim);
  for (std::size_t e = first; e < head.q.size(); e += 2) {
    const float input = flush.Inputs();
    const std::size_t pair = (e - first) / 2;
    const Rotated r =
        RotatePair(Flushed(head.q[e], input), Flushed(head.q[e + 1], input), Flushed(head.cos[pair], input),
                   Flushed(head.sin[pair], input), p.contraction, flush, random);
    out.rotated[e] = r.even;
    out.rotated[e + 1] = r.odd;
  }
  std::vector<std::uint16_t> values;
  for (const float x : out.rotated) values.push_back(Bf16Of(x));
  out.stored = StoreQ(head.kind, values);
  FoldWeight(head, p, out);
  return out;
}

void FoldWeight(const QHead& head, const Perturbation& p, PerturbedQ& out) {
  Random random(~p.seed);
  FlushRule flush(p.flush, random);
  std::vector<float> factors{Flushed(head.weight, flush.Inputs()), head.softmax_scale, head.head_scale};
  if (head.kind != QKind::kMxfp4) factors.push_back(PowerOfTwo(out.stored.blocks[0].exponent));
  // Any order of the products: as a chain, or for four factors as two pairs.
  for (std::size_t i = factors.size(); i > 1; --i) {
    std::swap(factors[i - 1], factors[static_cast<std::size_t>(random.Below(static_cast<int>(i)))]);
  }
  const float threshold = flush.Products();
  if (factors.size() == 4 && random.Coin()) {
    out.weight = Flushed(factors[0] * factors[1], threshold) * Flushed(factors[2] * factors[3], threshold);
  } else {
    out.weight = factors[0];
    for (std::size_t i = 1; i < factors.size(); ++i) {
      out.weight = Flushed(out.weight * factors[i], i + 1 < factors.size() ? threshold : 0);
    }
  }
  out.weight = Flushed(out.weight, flush.Results());
  out.weight_bf16 = Bf16Of(out.weight);
}

}  // namespace kvexact::oracle
