// SPDX-License-Identifier: Apache-2.0
#include "harness/report/wrong_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/report/column_tests.h"
#include "harness/report/head_values.h"

namespace kvexact {
namespace {

// How many cells of a row, in sections of that kind, hold one of the letters.
std::int64_t CellsWith(const FailureMap& map, const MapRow& row, ElementKind kind, const char* letters) {
  std::int64_t count = 0;
  std::size_t at = 0;
  for (const MapSection& section : map.sections) {
    for (std::int64_t i = 0; i < section.elements; ++i, ++at) {
      const bool found = std::string(letters).find(row.cells[at]) != std::string::npos;
      if (section.kind == kind && found) ++count;
    }
  }
  return count;
}

bool IsPowerOfTwo(double ratio) {
  int exponent = 0;
  return std::abs(std::frexp(std::abs(ratio), &exponent) - 0.5) < 0.02 ||
         std::abs(std::frexp(std::abs(ratio), &exponent) - 1) < 0.02;
}

// What a NaN makes of a token: every value is NaN, or the largest code.
bool HoldsNan(const HeadValues& head) {
  const bool model = std::all_of(head.rotated.begin(), head.rotated.end(), [](double x) { return std::isfinite(x); });
  const bool largest = std::all_of(head.codes.begin(), head.codes.end(),
                                   [&](std::uint32_t code) { return code == head.codes.front(); }) &&
                       std::isinf(head.high.front());
  const auto plain = head.stored.begin() + static_cast<std::ptrdiff_t>(head.codes.size());
  return model && largest && std::all_of(plain, head.stored.end(), [](double x) { return std::isnan(x); });
}

// Of one head whose codes, scales or bf16 values are wrong.
class HeadInference {
 public:
  HeadInference(const HeadValues& head, const HeadValues* other, bool gathers, bool scales_wrong, bool codes_wrong,
                std::int64_t bf16_wrong)
      : head_(head),
        other_(other),
        gathers_(gathers),
        scales_wrong_(scales_wrong),
        codes_wrong_(scales_wrong || codes_wrong),
        bf16_wrong_(bf16_wrong),
        all_{0, head.stored.size()},
        plain_{0, head.first_rotated},
        turned_{head.first_rotated, head.stored.size()},
        plainly_stored_{head.codes.size(), head.stored.size()},
        has_bf16_(head.codes.size() < head.stored.size()) {}

  WrongStage Infer() const {
    if (!head_.quantised_alone && HoldsNan(head_)) {
      return {Before(), "every element is what a NaN makes of it"};
    }
    if (AllZero()) return {head_.quantised_alone ? "" : Before(), "every element is zero"};
    if (const WrongStage found = FromFactor(); !found.why.empty()) return found;
    const bool plain_right = has_bf16_ ? !codes_wrong_ : ShareWith(head_, plain_, head_.rotated, 1) == 1;
    if (plain_right && ShareWith(head_, turned_, head_.rotated, 1) < 1) return FromTurned();
    if (bf16_wrong_ == 0) {
      if (const WrongStage found = FromCodes(); !found.why.empty()) return found;
    }
    return FromColumns();
  }

 private:
  // What computes the values that the norm makes unusable, or the norm.
  const char* Before() const { return gathers_ ? "gather or softmax" : "norm"; }

  bool AllZero() const {
    return std::all_of(head_.stored.begin(), head_.stored.end(), [](double x) { return x == 0; });
  }

  WrongStage FromFactor() const {
    constexpr double kLeastColumns = 4;  // that the factor explains and 1 does not
    const CommonFactor common = FactorOf(head_, all_, head_.rotated);
    const double gained = common.share - ShareWith(head_, all_, head_.rotated, 1);
    if (common.share < kMostColumns || gained * static_cast<double>(all_.count()) < kLeastColumns) return {};
    // Not outvoted by the many codes.
    if (ShareWith(head_, plainly_stored_, head_.rotated, common.factor) < kMostColumns) return {};
    const bool in_scale = head_.quantised_alone || (!has_bf16_ && IsPowerOfTwo(common.factor));
    return {in_scale ? "scale" : "norm",
            fmt::format("the columns hold {:.4g} times the model's values", common.factor)};
  }

  // Columns that do not rotate hold the model's values.
  WrongStage FromTurned() const {
    // A small error before the rotation shows in bf16 values, which are finer than codes, before it shows in codes.
    constexpr std::int64_t kMany = 15;
    if (has_bf16_ && bf16_wrong_ < kMany && ShareWith(Coarse(), turned_, head_.rotated, 1) == 1) {
      return {"", "small errors in a few columns that rotate: the rotation, or what is before it"};
    }
    return {"rope", fmt::format("columns below {} hold the model's values, rotated ones do not", head_.first_rotated)};
  }

  // The head as if its bf16 values were as coarse as codes.
  HeadValues Coarse() const {
    constexpr double kCoarse = 0x1p-5;
    HeadValues coarse = head_;
    for (std::size_t i = head_.codes.size(); i < coarse.stored.size(); ++i) {
      coarse.low[i] *= 1 - kCoarse;
      coarse.high[i] *= 1 + kCoarse;
    }
    return coarse;
  }

  // Values that are stored without a scale are right, or there are none.
  WrongStage FromCodes() const {
    const Columns codes{0, head_.codes.size()};
    if (ShareWith(head_, codes, head_.rotated, 1) == 1) {
      if (scales_wrong_) return {"scale", "codes and scales stand for the model's values, in other scales"};
      return {"quantise", "the codes stand for the model's values, rounded in another way"};
    }
    if (NextToCodes(head_)) {
      if (has_bf16_ || ShareWith(head_, codes, head_.rotated, 1) < kRoundedAlike) {
        return {"quantise", "the codes are next to the model's: rounded in another way"};
      }
      return {"", "a few codes are next to the model's: the rounding, or small errors before it"};
    }
    if (FactorByBlock(head_)) {
      return {
          "scale",
          "each block holds a factor of its own times the model's values: not the scale that its codes were made with"};
    }
    if (FollowFromCodes(head_)) return {"quantise", "equal codes of the model became equal other codes"};
    return {};
  }

  WrongStage FromColumns() const {
    if (head_.quantised_alone) return {"", "the values that were quantised are not the model's"};
    const CommonFactor unnormed = FactorOf(head_, plain_, head_.compressed);
    if (unnormed.factor > 0 && unnormed.share >= kMostColumns) {
      return {"norm", fmt::format("the columns hold {:.4g} times the compressed values, without the norm's weights",
                                  unnormed.factor)};
    }
    if (other_ != nullptr && OffByColumn(head_, *other_, plain_)) {
      return {"norm", "the columns of two tokens are off by the same factors: the norm's weights"};
    }
    if (has_bf16_ && bf16_wrong_ == 0) {
      return {"", "the bf16 values are right, the codes stand for other values: columns below the rotated ones alone"};
    }
    if (!gathers_) return {"norm", "what the norm makes of the given rows are not the model's values"};
    constexpr double kKeptSigns = 0.97;
    if (SameSigns(head_, plain_) >= kKeptSigns) {
      return {"", "values of the model's sign and another size: before the rotation, in the norm or the softmax"};
    }
    return {"gather or softmax", "the compressed values that the norm starts from are not the model's"};
  }

  static constexpr double kMostColumns = 0.98;
  static constexpr double kRoundedAlike = 0.8;

  const HeadValues& head_;
  const HeadValues* other_;  // of another token; may be null
  bool gathers_;             // the operation reads the state cache
  bool scales_wrong_;
  bool codes_wrong_;  // or scales
  std::int64_t bf16_wrong_;
  Columns all_;
  Columns plain_;
  Columns turned_;
  Columns plainly_stored_;  // as bf16, without a scale
  bool has_bf16_;
};

}  // namespace

WrongStage FirstWrongStage(const Evidence& evidence, const JudgeOptions& options, const FailureMap& map) {
  if (map.rows.empty()) {
    if (map.touched.empty()) return {};
    return {"store", "every element is right, and bytes changed beside them"};
  }
  const MapRow& row = map.rows.front();
  const auto wrong = [&](ElementKind kind) { return CellsWith(map, row, kind, "wn"); };
  const std::int64_t unwritten = std::count(row.cells.begin(), row.cells.end(), 'n');
  if (unwritten == static_cast<std::int64_t>(row.cells.size())) {
    return {"locate", fmt::format("nothing was stored for token {}", row.token)};
  }
  // Among many wrong elements some hold by chance what was there before.
  const std::int64_t changed = std::count(row.cells.begin(), row.cells.end(), 'w');
  if (unwritten > changed)
    return {"store", fmt::format("{} elements of token {} were not written", unwritten, row.token)};
  if (changed == 0) return {"", "what is stored differs from run to run"};
  if (wrong(ElementKind::kFp32) > 0) {
    return {"gather or softmax", "the compressed values are not the model's"};
  }
  if (wrong(ElementKind::kCode) + wrong(ElementKind::kBf16) + wrong(ElementKind::kScale) == 0) {
    return {"weight", "codes and scales are right, the folded weight is not"};
  }
  if (const std::int64_t owner = OtherOwner(evidence, options, row.token); owner >= 0) {
    return {"locate", fmt::format("token {} holds what token {} should", row.token, owner)};
  }
  if (wrong(ElementKind::kCode) + wrong(ElementKind::kBf16) == 0) {
    return {"scale", "codes are right, the scales stored with them are not"};
  }
  const HeadValues head = StoredHead(evidence, options, row.token, row.head);
  HeadValues other;
  const bool two = map.rows.size() > 1 && map.rows[1].token != row.token;
  if (two) other = StoredHead(evidence, options, map.rows[1].token, map.rows[1].head);
  return HeadInference(head, two ? &other : nullptr, evidence.c.row().reads_state, wrong(ElementKind::kScale) > 0,
                       wrong(ElementKind::kCode) > 0, wrong(ElementKind::kBf16))
      .Infer();
}

}  // namespace kvexact
