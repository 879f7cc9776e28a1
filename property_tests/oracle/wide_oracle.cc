// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/wide_oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvexact::oracle {
namespace {

const Wide& Overflow() {
  static const Wide threshold = Wide(0x1p128) - Wide(0x1p103);
  return threshold;
}

// a * b - c * d (sign < 0) or a * b + c * d, rounded once where finite.
Wide TwoProducts(const Wide& a, const Wide& b, const Wide& c, const Wide& d, int sign) {
  Wide r;
  if (sign < 0) {
    mpfr_fmms(r.raw(), a.raw(), b.raw(), c.raw(), d.raw(), MPFR_RNDN);
  } else {
    mpfr_fmma(r.raw(), a.raw(), b.raw(), c.raw(), d.raw(), MPFR_RNDN);
  }
  return r;
}

// e^-79 = 2^-114: every implementation keeps a weight above it, and below 2^-150 none can.
constexpr double kSurelyKept = -79;
constexpr double kSurelyLost = -104;

struct ColumnClass {
  bool nan = false;
  bool unspecified = false;
};

ColumnClass EvaluateColumn(const CompressToken& token, std::size_t d, Wide& mean, Wide& absolute) {
  const auto head = static_cast<std::size_t>(token.head_dim);
  const auto rows = static_cast<std::size_t>(token.rows);
  ColumnClass cls;
  float most = -std::numeric_limits<float>::infinity();
  for (std::size_t r = 0; r < rows; ++r) {
    const float s = token.score[r * head + d];
    if (std::isnan(s) || std::isnan(token.kv[r * head + d]) || s == HUGE_VALF) cls.nan = true;
    most = std::max(most, s);
  }
  if (most == -HUGE_VALF) cls.nan = true;
  if (cls.nan) {
    mean = absolute = Wide(std::numeric_limits<double>::quiet_NaN());
    return cls;
  }
  Wide numerator;
  Wide magnitude;
  Wide denominator;
  for (std::size_t r = 0; r < rows; ++r) {
    const float s = token.score[r * head + d];
    const float x = token.kv[r * head + d];
    if (s == -HUGE_VALF) {  // weight exactly 0, and 0 * inf is NaN
      if (std::isinf(x)) numerator = magnitude = Wide(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const Wide difference = Wide(s) - Wide(most);
    const Wide w = Exp(difference);
    denominator = denominator + w;
    if (std::isinf(x)) {
      const double gap = difference.ToDouble();
      if (gap < kSurelyLost) {
        numerator = magnitude = Wide(std::numeric_limits<double>::quiet_NaN());
        continue;
      }
      if (gap < kSurelyKept) cls.unspecified = true;
    }
    numerator = numerator + w * Wide(x);
    magnitude = magnitude + w * Wide(std::fabs(x));
  }
  mean = numerator / denominator;
  absolute = magnitude / denominator;
  cls.nan = mean.IsNan();
  if (cls.nan) cls.unspecified = false;
  return cls;
}

// RoPE on a pair; `every` says that pairs outside the rotated dims pass through cos 1, sin 0.
void Rotate(const std::vector<Wide>& in, int head_dim, int rope_dim, bool every, const std::vector<float>& cos,
            const std::vector<float>& sin, std::vector<Wide>& out) {
  out = in;
  const auto first = static_cast<std::size_t>(head_dim - rope_dim);
  for (std::size_t e = every ? 0 : first; e < in.size(); e += 2) {
    const Wide c = e < first ? Wide(1.0) : Wide(cos[(e - first) / 2]);
    const Wide s = e < first ? Wide(0.0) : Wide(sin[(e - first) / 2]);
    out[e] = Saturated(TwoProducts(in[e], c, in[e + 1], s, -1));
    out[e + 1] = Saturated(TwoProducts(in[e + 1], c, in[e], s, +1));
  }
}

}  // namespace

Wide Saturated(const Wide& x) {
  if (!x.IsFinite() || Abs(x) < Overflow()) return x;
  return Wide(x.IsNegative() ? -HUGE_VAL : HUGE_VAL);
}

WideToken EvaluateWide(const CompressToken& token) {
  const auto head = static_cast<std::size_t>(token.head_dim);
  WideToken out;
  bool nan = false;
  bool unspecified = false;
  bool infinite = false;
  out.columns.resize(head);
  out.absolute.resize(head);
  for (std::size_t d = 0; d < head; ++d) {
    if (token.op == spec::Operation::kFinalize) {
      out.columns[d] = Wide(token.ready_columns[d]);
      out.absolute[d] = Abs(out.columns[d]);
    } else {
      const ColumnClass cls = EvaluateColumn(token, d, out.columns[d], out.absolute[d]);
      unspecified = unspecified || cls.unspecified;
    }
    nan = nan || out.columns[d].IsNan();
    infinite = infinite || out.columns[d].IsInf();
  }
  if (nan) {
    out.cls = TokenClass::kNan;
  } else if (infinite) {
    out.cls = unspecified ? TokenClass::kUnspecified : TokenClass::kInfiniteKv;
  }
  if (token.norm_weight.empty()) return out;

  for (const Wide& c : out.columns) out.sum_squares = out.sum_squares + c * c;
  out.mean_square = out.sum_squares / Wide(static_cast<double>(token.head_dim));
  const Wide saturated = Saturated(out.sum_squares);
  if (out.cls == TokenClass::kFinite && saturated.IsInf()) out.cls = TokenClass::kZeroByOverflow;
  out.rrms = ReciprocalSqrt(saturated / Wide(static_cast<double>(token.head_dim)) + Wide(token.eps));
  for (std::size_t d = 0; d < head; ++d) {
    out.normed.push_back(Saturated(out.columns[d] * out.rrms * Wide(token.norm_weight[d])));
  }
  Rotate(out.normed, token.head_dim, token.rope_dim, token.RotatesEveryPair(), token.cos, token.sin, out.rotated);
  return out;
}

StoredToken StoreIdeal(const CompressToken& token, const WideToken& wide) {
  std::vector<std::uint16_t> normed;
  std::vector<std::uint16_t> rotated;
  for (const Wide& x : wide.normed) normed.push_back(Bf16Of(x));
  for (const Wide& x : wide.rotated) rotated.push_back(Bf16Of(x));
  return StoreToken(token.op, normed, rotated);
}

WideQ EvaluateWide(const QHead& head) {
  WideQ out;
  const std::vector<Wide> q(head.q.begin(), head.q.end());
  Rotate(q, head.head_dim, head.rope_dim, false, head.cos, head.sin, out.rotated);
  for (const Wide& x : out.rotated) out.values.push_back(Bf16Of(x));
  out.stored = StoreQ(head.kind, out.values);
  out.weight = Wide(head.weight) * Wide(head.softmax_scale) * Wide(head.head_scale);
  if (head.kind != QKind::kMxfp4) out.weight = out.weight * Wide(PowerOfTwo(out.stored.blocks[0].exponent));
  out.weight_fp32 = Fp32Of(out.weight);
  out.weight_bf16 = Bf16Of(out.weight_fp32);
  return out;
}

}  // namespace kvexact::oracle
