// SPDX-License-Identifier: Apache-2.0
#include "reference/numerics/special_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/numerics/enclosed_value.h"

namespace kvexact {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kUnit = 0x1p-24;
// e^d of an fp32 argument at or above kSurelyThere is a normal number, whatever scales it; at or below
// kSurelyGone it rounds to zero.
constexpr double kSurelyThere = -80;
constexpr double kSurelyGone = -110;
constexpr double kExpRange = 80;  // growth of all weights (as a logarithm) beyond which they may be infinite or zero

// What may become of w * inf over the rows whose KV is infinite.
struct Infinities {
  bool may_stay = false;
  bool may_be_nan = false;
  bool surely_nan = false;
};

}  // namespace

FiniteWindow::FiniteWindow(const Window& window)
    : score_(static_cast<std::size_t>(window.rows())), kv_(static_cast<std::size_t>(window.rows())) {
  const auto first = static_cast<std::size_t>(window.masked);
  const auto columns = static_cast<std::size_t>(window.columns);
  values_.resize((score_.size() - first) * columns * 2);
  float* out = values_.data();
  for (std::size_t r = first; r < score_.size(); ++r) {
    score_[r] = out;
    const float* s = window.score[r];
    for (std::size_t c = 0; c < columns; ++c) out[c] = s[c] < kInf ? s[c] : 0;
    out += columns;
    kv_[r] = out;
    const float* k = window.kv[r];
    for (std::size_t c = 0; c < columns; ++c) out[c] = std::isfinite(k[c]) ? k[c] : 0;
    out += columns;
  }
}

std::uint8_t SpecialClasses(const Window& window, std::size_t column, const ColumnErrorModel& model) {
  const auto first = static_cast<std::size_t>(window.masked);
  const std::size_t rows = window.score.size();
  float max = -kInf;
  bool positive = false;
  bool negative = false;
  for (std::size_t r = first; r < rows; ++r) {
    const float s = window.score[r][column];
    const float k = window.kv[r][column];
    if (!(s < kInf) || k != k) return kNan;
    max = std::max(max, s);
    positive |= k == kInf;
    negative |= k == -kInf;
  }
  if (max == -kInf || (positive && negative)) return kNan;
  if (!positive && !negative) return 0;

  const double top = std::fabs(static_cast<double>(max));
  const double log_growth = model.scaled_terms * 4 * top * kUnit;
  if (log_growth > kExpRange) return kFinite | kZero | kPosInf | kNegInf | kNan;
  const bool online = model.rescalings > 0;
  Infinities infinities;
  double against = 0;  // the finite terms of the other sign, at most
  for (std::size_t r = first; r < rows; ++r) {
    const double s = window.score[r][column];
    const double k = window.kv[r][column];
    const double d = s - static_cast<double>(max);
    const bool weighs = s > -std::numeric_limits<double>::infinity();
    if (std::isinf(k)) {
      const double error =
          weighs ? (model.exp_slope * std::fabs(d) + model.scaled_terms * (std::fabs(s) + top)) * kUnit : 0;
      // An online softmax may have seen the row as its maximum and rescaled the infinity since, in steps.
      const bool stays = weighs && (online || d + error > kSurelyGone);
      infinities.may_stay |= stays;
      infinities.surely_nan |= !stays;
      infinities.may_be_nan |= d - error < kSurelyThere;
    } else if (weighs && (k > 0) == negative) {
      against += std::fabs(k) * (online ? 1 : std::exp(d));
    }
  }
  if (infinities.surely_nan || !infinities.may_stay) return kNan;
  // Terms that sum to the other infinity first leave NaN.
  const bool meets_other = against * std::exp(log_growth) >= 0x1p128 * (1 - 0x1p-16);
  return static_cast<std::uint8_t>((positive ? kPosInf : kNegInf) | (infinities.may_be_nan || meets_other ? kNan : 0));
}

}  // namespace kvexact
