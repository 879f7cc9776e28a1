// SPDX-License-Identifier: Apache-2.0
#include "harness/report/wrong_stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness/report/head_values.h"

namespace kvexact {
namespace {

constexpr double kMostColumns = 0.9;  // that must agree for a statement about all of them

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

// Whether `stored` is what rounding makes of `model`, give or take a step.
bool Rounds(const HeadValues& head, std::size_t i, double model) {
  const double stored = head.stored[i];
  if (stored == model || (stored != stored && model != model)) return true;
  return std::abs(stored - model) <= head.step[i];
}

double AgreeingShare(const HeadValues& head, std::size_t begin, std::size_t end, const std::vector<double>& model,
                     double factor) {
  std::int64_t agree = 0;
  for (std::size_t i = begin; i < end; ++i) agree += Rounds(head, i, factor * model[i]) ? 1 : 0;
  return end > begin ? static_cast<double>(agree) / static_cast<double>(end - begin) : 1;
}

// Median of stored over model where both are far from zero; 0 if that is nowhere.
double TypicalRatio(const HeadValues& head, std::size_t begin, std::size_t end, const std::vector<double>& model) {
  std::vector<double> ratios;
  for (std::size_t i = begin; i < end; ++i) {
    const double ratio = head.stored[i] / model[i];
    if (std::isfinite(ratio) && std::abs(head.stored[i]) > 4 * head.smallest_step[i] && ratio != 0) {
      ratios.push_back(ratio);
    }
  }
  if (ratios.empty()) return 0;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return *middle;
}

bool IsPowerOfTwo(double ratio) {
  int exponent = 0;
  return std::abs(std::frexp(std::abs(ratio), &exponent) - 0.5) < 0.02 ||
         std::abs(std::frexp(std::abs(ratio), &exponent) - 1) < 0.02;
}

// Of values before rounding that differ from the model's. `codes_right`: so far as codes tell, every column before the
// rotated ones is right. `gathers`: the operation reads the state cache.
WrongStage FromValues(const HeadValues& head, bool codes_right, bool gathers) {
  const std::size_t columns = head.stored.size();
  const bool plain_right = AgreeingShare(head, 0, head.first_rotated, head.rotated, 1) >= 1;
  if (plain_right && !codes_right) {
    const double scaled = TypicalRatio(head, head.first_rotated, columns, head.rotated);
    if (std::abs(scaled - 1) > 0.004 && AgreeingShare(head, 0, columns, head.rotated, scaled) >= kMostColumns) {
      return {"norm", fmt::format("the columns hold {:.4g} times the model's values", scaled)};
    }
    return {"", "small errors in columns of every kind: before the rotation"};
  }
  if (plain_right && head.first_rotated < columns) {
    return {"rope", fmt::format("columns below {} hold the model's values, rotated ones do not", head.first_rotated)};
  }
  const double scaled = TypicalRatio(head, 0, columns, head.rotated);
  if (std::abs(scaled - 1) > 0.02 && AgreeingShare(head, 0, columns, head.rotated, scaled) >= kMostColumns) {
    const bool in_scale = head.quantised_alone || (!head.scale_stored && IsPowerOfTwo(scaled));
    return {in_scale ? "scale" : "norm", fmt::format("the columns hold {:.4g} times the model's values", scaled)};
  }
  if (head.quantised_alone) return {"", "the values that were quantised are not the model's"};
  const double unnormed = TypicalRatio(head, 0, head.first_rotated, head.compressed);
  if (unnormed != 0 && AgreeingShare(head, 0, head.first_rotated, head.compressed, unnormed) >= kMostColumns) {
    return {"norm",
            fmt::format("the columns hold {:.4g} times the compressed values, without the norm's weights", unnormed)};
  }
  if (!gathers) return {"norm", "what the norm makes of the given rows are not the model's values"};
  return {"gather or softmax", "the compressed values that the norm starts from are not the model's"};
}

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
  const HeadValues head = StoredHead(evidence, options, row.token, row.head);
  if (const std::int64_t other = OtherOwner(evidence, options, row.token); other >= 0) {
    return {"locate", fmt::format("token {} holds what token {} should", row.token, other)};
  }
  if (wrong(ElementKind::kCode) + wrong(ElementKind::kBf16) == 0) {
    return {"scale", "codes are right, the scales stored with them are not"};
  }
  if (AgreeingShare(head, 0, head.stored.size(), head.rotated, 1) < 1) {
    const bool codes_right =
        wrong(ElementKind::kCode) + wrong(ElementKind::kScale) == 0 || wrong(ElementKind::kBf16) == 0;
    return FromValues(head, codes_right, evidence.c.row().reads_state);
  }
  if (wrong(ElementKind::kScale) > 0)
    return {"scale", "codes and scales stand for the model's values, in other scales"};
  return {"quantise", "the codes are next to the model's: rounded in another way"};
}

}  // namespace kvexact
