// SPDX-License-Identifier: Apache-2.0
#include "harness/report/column_tests.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace kvexact {
namespace {

constexpr double kNearlyAll = 0.97;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Factors of the model's value that round to what is stored at column i; empty (low > high) if there are none.
struct Range {
  double low = 0;
  double high = kInfinity;
};

Range FactorsAt(const HeadValues& head, std::size_t i, double model) {
  const double stored = head.stored[i];
  const double magnitude = std::abs(model);
  if (!std::isfinite(stored) || !std::isfinite(model)) return {1, 0};
  if (magnitude == 0) return head.low[i] <= 0 ? Range{} : Range{1, 0};
  if (stored != 0 && (stored < 0) != (model < 0)) return {1, 0};
  return {head.low[i] / magnitude, head.high[i] / magnitude};
}

bool Holds(const Range& range, double factor) { return range.low <= factor && factor <= range.high; }

}  // namespace

double ShareWith(const HeadValues& head, Columns columns, const std::vector<double>& model, double factor) {
  std::size_t hold = 0;
  for (std::size_t i = columns.begin; i < columns.end; ++i) {
    const bool both_nan = head.stored[i] != head.stored[i] && model[i] != model[i];
    hold += both_nan || Holds(FactorsAt(head, i, model[i]), factor) ? 1U : 0U;
  }
  return columns.count() == 0 ? 1 : static_cast<double>(hold) / static_cast<double>(columns.count());
}

CommonFactor FactorOf(const HeadValues& head, Columns columns, const std::vector<double>& model) {
  std::vector<std::pair<double, int>> ends;  // where a range begins (-1, sorted first) and ends (1)
  for (std::size_t i = columns.begin; i < columns.end; ++i) {
    const Range range = FactorsAt(head, i, model[i]);
    if (range.low > range.high) continue;
    ends.emplace_back(range.low, -1);
    ends.emplace_back(range.high, 1);
  }
  std::sort(ends.begin(), ends.end());
  CommonFactor best;
  int depth = 0;
  int deepest = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    depth -= ends[i].second;
    if (depth <= deepest) continue;
    deepest = depth;
    const double until = i + 1 < ends.size() ? ends[i + 1].first : ends[i].first;
    best.factor = std::isfinite(until) ? (ends[i].first + until) / 2 : ends[i].first;
  }
  if (columns.count() > 0) best.share = static_cast<double>(deepest) / static_cast<double>(columns.count());
  return best;
}

bool FactorByBlock(const HeadValues& head) {
  return std::all_of(head.blocks.begin(), head.blocks.end(), [&](const QuantisedBlock& block) {
    const CommonFactor common = FactorOf(head, {block.begin, block.end}, head.rotated);
    return common.factor > 0 && common.share >= kNearlyAll;
  });
}

bool FollowFromCodes(const HeadValues& head) {
  // Stored codes, with their numbers, by the model's code.
  std::map<std::uint32_t, std::map<std::uint32_t, int>> became;
  for (std::size_t i = 0; i < head.codes.size(); ++i) ++became[head.expected_codes[i]][head.codes[i]];
  constexpr int kLeast = 8;
  constexpr double kShare = 0.65;  // a coarser format makes two codes of one
  int wrong = 0;
  int follow = 0;
  for (const auto& [model, stored] : became) {
    int columns = 0;
    for (const auto& [code, count] : stored) columns += count;
    if (columns < 4) continue;  // of which half may agree by chance
    const auto most = std::max_element(stored.begin(), stored.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    for (const auto& [code, count] : stored) wrong += code != model ? count : 0;
    if (most->first != model) follow += most->second;
  }
  return wrong >= kLeast && follow >= kShare * wrong;
}

bool NextToCodes(const HeadValues& head) {
  const auto one_scale = [](const QuantisedBlock& block) { return block.scale == block.expected; };
  if (!std::all_of(head.blocks.begin(), head.blocks.end(), one_scale)) return false;
  for (std::size_t i = 0; i < head.codes.size(); ++i) {
    const std::uint32_t a = head.codes[i];
    const std::uint32_t b = head.expected_codes[i];
    const bool zeros = std::abs(head.stored[i]) == 0 && head.low[i] <= 0;
    if (std::max(a, b) - std::min(a, b) > 1 && !zeros) return false;
  }
  return true;
}

double SameSigns(const HeadValues& head, Columns columns) {
  std::size_t same = 0;
  std::size_t all = 0;
  for (std::size_t i = columns.begin; i < columns.end; ++i) {
    if (head.stored[i] == 0 || !(std::abs(head.rotated[i]) > 0)) continue;
    ++all;
    same += (head.stored[i] < 0) == (head.rotated[i] < 0) ? 1U : 0U;
  }
  return all == 0 ? 1 : static_cast<double>(same) / static_cast<double>(all);
}

bool OffByColumn(const HeadValues& a, const HeadValues& b, Columns columns) {
  constexpr std::size_t kLeast = 16;
  constexpr double kShare = 0.9;
  std::size_t all = 0;
  std::size_t alike = 0;
  for (std::size_t i = columns.begin; i < columns.end; ++i) {
    if (a.low[i] <= 0 || b.low[i] <= 0) continue;  // zeros agree with every factor
    const Range one = FactorsAt(a, i, a.rotated[i]);
    const Range other = FactorsAt(b, i, b.rotated[i]);
    if (Holds(one, 1) && Holds(other, 1)) continue;
    const bool meet = std::max(one.low, other.low) <= std::min(one.high, other.high);
    ++all;
    alike += meet && one.low <= one.high && other.low <= other.high ? 1U : 0U;
  }
  return all >= kLeast && static_cast<double>(alike) >= kShare * static_cast<double>(all);
}

}  // namespace kvexact
