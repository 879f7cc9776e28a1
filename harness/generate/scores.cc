// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "harness/generate/counter_hash.h"
#include "harness/generate/exact_float.h"
#include "harness/generate/values.h"

namespace kvexact::generate {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr std::uint64_t kColumnOffsets = 1;  // stream of the case
constexpr std::uint64_t kCaseLevel = 2;

// Distances from the maximum around which fp32 weights become subnormal (87.3), vanish (103.3 to 104)
// or are cut off by implementations.
constexpr float kDistances[] = {0.0F,   0.0F,   -1.0F,  -16.0F,  -79.5F,  -80.0F,  -80.5F,  -87.0F,
                                -87.5F, -88.5F, -95.0F, -103.0F, -103.5F, -104.5F, -150.0F, -1000.0F};

// The level that the dominant row has; the others are at least 200 below, where e^x is 0 in fp32.
float DriveLevel(std::uint64_t case_key) {
  constexpr float kLevels[] = {0.0F, 0.0F, 1000.0F, -1000.0F};
  return kLevels[At(case_key, kCaseLevel) % 4];
}

template <class Element>
void Fill(const ScoreRow& row, std::span<float> out, Element&& element) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = element(At(row.stream, i), i);
}

}  // namespace

void FillScores(ScoreKind kind, const ScoreRow& row, std::span<float> out) {
  const auto per_element = [&](auto element) {
    Fill(row, out, [&](std::uint64_t random, std::size_t) { return element(random); });
  };
  switch (kind) {
    case ScoreKind::kNormal:
      return per_element(Bell);
    case ScoreKind::kFlat:
      return std::fill(out.begin(), out.end(), Bell(At(row.case_key, kCaseLevel)));
    case ScoreKind::kTies:
      return per_element([](std::uint64_t random) { return static_cast<float>(static_cast<int>(random % 3) - 1); });
    case ScoreKind::kWide:
      return per_element([](std::uint64_t random) { return 256.0F * Unit(random) - 128.0F; });
    case ScoreKind::kSpread:
      return per_element([](std::uint64_t random) { return 2048.0F * Unit(random) - 1024.0F; });
    case ScoreKind::kHigh:
      return per_element([](std::uint64_t random) { return Bell(random) + 1000.0F; });
    case ScoreKind::kLow:
      return per_element([](std::uint64_t random) { return Bell(random) - 1000.0F; });
    case ScoreKind::kColumns: {
      const std::uint64_t offsets = StreamKey(row.case_key, {kColumnOffsets});
      return Fill(row, out, [&](std::uint64_t random, std::size_t i) {
        return Bell(random) + (2048.0F * Unit(At(offsets, i)) - 1024.0F);
      });
    }
    case ScoreKind::kNegInf:
      return per_element([&](std::uint64_t random) {
        return !row.ends_window && (random >> 62) == 0 ? kMinusInfinity : Bell(random);
      });
    case ScoreKind::kCutoff:
      return per_element([&](std::uint64_t random) { return row.ends_window ? 0.0F : kDistances[random % 16]; });
    case ScoreKind::kSubnormal:
      return FillValues(ValueKind::kSubnormal, {row.stream, 0}, 1, out);
    case ScoreKind::kZero:
      return FillValues(ValueKind::kZero, {row.stream, 0}, 1, out);
    case ScoreKind::kHuge:
      return per_element([](std::uint64_t random) { return Bell(random) * 0x1p60F; });
    case ScoreKind::kDrive: {
      const float level = DriveLevel(row.case_key);
      return per_element(
          [&](std::uint64_t random) { return row.dominant ? level : level - static_cast<float>(200 + random % 800); });
    }
  }
}

}  // namespace kvexact::generate
