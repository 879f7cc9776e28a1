// SPDX-License-Identifier: Apache-2.0
#include "reference/numerics/enclosure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "property_tests/numerics/random_window.h"
#include "reference/numerics/strict.h"

namespace kvexact {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// Budgets with and without flushing: the strict model belongs to both.
std::vector<Budget> AllBudgets() {
  std::vector<Budget> budgets(Budgets().begin(), Budgets().end());
  for (Budget budget : Budgets()) {
    budget.flush = false;
    budgets.push_back(budget);
  }
  return budgets;
}

bool Contains(const EnclosedValue& set, float x) {
  if (std::isnan(x)) return (set.classes & kNan) != 0;
  if (std::isinf(x)) return (set.classes & (x > 0 ? kPosInf : kNegInf)) != 0;
  if (x == 0 && (set.classes & kZero) != 0) return true;
  return (set.classes & kFinite) != 0 && std::fabs(x - set.mid) <= set.rad;
}

void ExpectInside(const Strict::Row& strict, const Enclosure::Row& row, const char* what) {
  for (int c = 0; c < strict.columns; ++c) {
    const EnclosedValue set = Enclosure::At(row, c);
    EXPECT_TRUE(Contains(set, strict.value[c]))
        << what << " column " << c << ": " << strict.value[c] << " not in " << set.mid << " +- " << set.rad;
  }
}

TEST(Enclosure, HoldsTheStrictModelAtEveryStage) {
  std::uint64_t seed = 1;
  for (const Budget& budget : AllBudgets()) {
    const Enclosure enclosure(budget);
    const Strict strict;
    for (const int rows : {1, 2, 8, 31, 128}) {
      for (const float spread : {0.0F, 1.0F, 90.0F, 1000.0F}) {
        for (const float scale : {1.0F, 1e-36F, 1e-42F, 1e19F, 3e38F}) {
          RandomWindow input(rows, 128, spread, scale, seed++);
          RandomWindow parameters(2, 128, 1.5F, 1, seed++);
          Strict::Row s;
          Enclosure::Row e;
          strict.WeightedMean(input.window(), s);
          enclosure.WeightedMean(input.window(), e);
          ExpectInside(s, e, "mean");
          strict.Scale(s, strict.InverseSqrt(strict.Add(strict.Divide(strict.SumOfSquares(s), 128), 1e-6F)));
          enclosure.Scale(
              e, enclosure.InverseSqrt(enclosure.Add(enclosure.Divide(enclosure.SumOfSquares(e), 128), 1e-6F)));
          ExpectInside(s, e, "scaled");
          strict.MultiplyBy(s, {parameters.window().score[0], 128});
          enclosure.MultiplyBy(e, {parameters.window().score[0], 128});
          ExpectInside(s, e, "normed");
          strict.RotatePairs(s, 0, 64, parameters.window().kv[0], parameters.window().kv[1]);
          enclosure.RotatePairs(e, 0, 64, parameters.window().kv[0], parameters.window().kv[1]);
          ExpectInside(s, e, "rotated");
        }
      }
    }
  }
}

TEST(Enclosure, ZeroRowsAreExact) {
  RandomWindow input(8, 16, 3, 0, 5);
  Enclosure::Row row;
  const Enclosure enclosure(DefaultBudget());
  enclosure.WeightedMean(input.window(), row);
  for (int c = 0; c < 16; ++c) {
    EXPECT_EQ(row.mid[c], 0);
    EXPECT_EQ(row.rad[c], 0);
  }
}

TEST(Enclosure, RadiusIsAFewUnitsForOneTokenOfRatioFour) {
  RandomWindow input(8, 512, 2, 1, 5);
  Enclosure::Row row;
  Enclosure(DefaultBudget()).WeightedMean(input.window(), row);
  double widest = 0;
  for (int c = 0; c < 512; ++c) widest = std::max(widest, row.rad[c]);
  EXPECT_GT(widest, 0x1p-24);
  EXPECT_LT(widest, 24 * 0x1p-24);
}

TEST(Enclosure, ClassesOfNonFiniteColumns) {
  RandomWindow input(8, 6, 1, 1, 23);
  input.score(1, 0) = std::numeric_limits<float>::quiet_NaN();
  input.score(1, 1) = kInf;
  for (int r = 0; r < 8; ++r) input.score(r, 2) = -kInf;
  input.kv(1, 3) = kInf;
  input.kv(1, 4) = -kInf;
  input.score(1, 4) = -kInf;
  Enclosure::Row row;
  const Enclosure enclosure(DefaultBudget());
  enclosure.WeightedMean(input.window(), row);
  EXPECT_EQ(row.classes[0], kNan);
  EXPECT_EQ(row.classes[1], kNan);
  EXPECT_EQ(row.classes[2], kNan);
  EXPECT_EQ(row.classes[3], kPosInf);
  EXPECT_EQ(row.classes[4], kNan);
  EXPECT_EQ(row.classes[5], kFinite);
  EXPECT_EQ(enclosure.SumOfSquares(row).classes, kNan);
}

TEST(Enclosure, NormStraddlingTheRangeAdmitsBothOutcomes) {
  Enclosure::Row row;
  const Enclosure enclosure(DefaultBudget());
  std::vector<float> values(128, std::sqrt(0x1p121F));
  enclosure.Assign(values, row);
  const EnclosedValue sum = enclosure.SumOfSquares(row);
  EXPECT_EQ(sum.classes, kFinite | kPosInf);
  EXPECT_EQ(enclosure.InverseSqrt(sum).classes, kFinite | kZero);
}

TEST(Enclosure, RotationWithOneInfinityAdmitsFusedAndSeparateProducts) {
  Enclosure::Row row;
  const Enclosure enclosure(DefaultBudget());
  const float values[] = {2.8e38F, kInf, 1, kInf};
  enclosure.Assign(values, row);
  const float cos[] = {1.3F, 0.5F};
  const float sin[] = {1.5F, 0.5F};
  enclosure.RotatePairs(row, 0, 2, cos, sin);
  // 2.8e38 * 1.3 overflows where it is rounded: inf - inf.
  EXPECT_EQ(row.classes[0], kNegInf | kNan);
  EXPECT_EQ(row.classes[1], kPosInf);
  EXPECT_EQ(row.classes[2], kNegInf);
}

TEST(Enclosure, ConvertsInwardsToFp32) {
  const Fp32Interval exact = Enclosure::ToFp32({1.0, 0.0, kFinite});
  EXPECT_EQ(exact.lo, 1.0F);
  EXPECT_EQ(exact.hi, 1.0F);
  const Fp32Interval wide = Enclosure::ToFp32({1.0, 0x1.8p-24, kFinite});
  EXPECT_EQ(wide.lo, 1.0F - 0x1p-24F);
  EXPECT_EQ(wide.hi, 1.0F);
}

}  // namespace
}  // namespace kvexact
