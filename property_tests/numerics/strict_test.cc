// SPDX-License-Identifier: Apache-2.0
// The strict model against docs/numerics.md, written out again in the plainest way.
#include "reference/numerics/strict.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "property_tests/numerics/random_window.h"

namespace kvexact {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

float Weight(float s, float m, int k) {
  const float magic = 12582912.0F + 127.0F - static_cast<float>(k);
  const float lowest = -static_cast<float>(127 - k) * 0.693147182464599609375F;
  float d = s - m;
  if (d < lowest) d = lowest;
  const float z = std::fma(d, 1.44269502162933349609375F, magic);
  const float f = std::fma(d, 1.44269502162933349609375F, -(z - magic));
  float q = 0x1.4172b6p-13F;
  q = std::fma(q, f, 0x1.5f0976p-10F);
  q = std::fma(q, f, 0x1.3b2ddap-7F);
  q = std::fma(q, f, 0x1.c6af7ap-5F);
  q = std::fma(q, f, 0x1.ebfbdcp-3F);
  q = std::fma(q, f, 0x1.62e430p-1F);
  q = std::fma(q, f, 1.0F);
  return q * std::bit_cast<float>(std::bit_cast<std::uint32_t>(z) << 23);
}

float Mean(const Window& w, int column, int k) {
  float m = -kInf;
  for (int r = w.masked; r < w.rows(); ++r) m = std::fmax(m, w.score[static_cast<std::size_t>(r)][column]);
  float num[8] = {};
  float den[8] = {};
  for (int r = w.masked; r < w.rows(); ++r) {
    const float weight = Weight(w.score[static_cast<std::size_t>(r)][column], m, k);
    num[r % 8] = std::fma(weight, w.kv[static_cast<std::size_t>(r)][column], num[r % 8]);
    den[r % 8] += weight;
  }
  const auto fold = [](const float* x) { return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7])); };
  return fold(num) / fold(den);
}

TEST(Strict, MeanFollowsTheSpecification) {
  for (const auto& [rows, k] : {std::pair{1, 0}, {2, 1}, {3, 2}, {8, 3}, {13, 4}, {128, 7}, {256, 8}}) {
    RandomWindow input(rows, 68, 9, 5, static_cast<std::uint64_t>(100 + rows));
    input.mask(rows / 4);
    Strict::Row row;
    Strict().WeightedMean(input.window(), row);
    ASSERT_EQ(row.columns, 68);
    for (int c = 0; c < 68; ++c) EXPECT_EQ(row.value[c], Mean(input.window(), c, k)) << rows << " rows, column " << c;
  }
}

TEST(Strict, MeanOfOneRowIsTheRow) {
  RandomWindow input(1, 32, 50, 7, 3);
  Strict::Row row;
  Strict().WeightedMean(input.window(), row);
  for (int c = 0; c < 32; ++c) EXPECT_EQ(row.value[c], input.kv(0, c));
}

TEST(Strict, FiniteRowsDoNotOverflowBeforeTheDivision) {
  RandomWindow input(256, 16, 0, 1, 5);
  for (int r = 0; r < 256; ++r) {
    for (int c = 0; c < 16; ++c) input.kv(r, c) = 0x1.8p127F;
  }
  Strict::Row row;
  Strict().WeightedMean(input.window(), row);
  for (int c = 0; c < 16; ++c) EXPECT_EQ(row.value[c], 0x1.8p127F);
}

TEST(Strict, SumOfSquaresFollowsTheTree) {
  RandomWindow input(1, 512, 1, 3, 17);
  Strict::Row row;
  Strict().Assign({input.window().kv[0], 512}, row);
  float group[4];
  for (int g = 0; g < 4; ++g) {
    float lane[32];
    for (int l = 0; l < 32; ++l) {
      const float* x = row.value + 128 * g + 4 * l;
      lane[l] = std::fma(x[3], x[3], std::fma(x[2], x[2], std::fma(x[1], x[1], x[0] * x[0])));
    }
    for (const int distance : {16, 8, 4, 2, 1}) {
      for (int l = 0; l < distance; ++l) lane[l] += lane[l + distance];
    }
    group[g] = lane[0];
  }
  EXPECT_EQ(Strict().SumOfSquares(row), (group[0] + group[1]) + (group[2] + group[3]));
}

TEST(Strict, RotationFusesTheFirstProduct) {
  Strict::Row row;
  const float values[] = {1.1F, -2.3F};
  Strict().Assign(values, row);
  const float cos = 0.6F;
  const float sin = 0.8F;
  Strict().RotatePairs(row, 0, 1, &cos, &sin);
  EXPECT_EQ(row.value[0], std::fma(1.1F, 0.6F, -(-2.3F * 0.8F)));
  EXPECT_EQ(row.value[1], std::fma(-2.3F, 0.6F, 1.1F * 0.8F));
}

TEST(Strict, NonFiniteColumns) {
  RandomWindow input(8, 5, 1, 1, 23);
  input.score(1, 0) = std::numeric_limits<float>::quiet_NaN();
  input.score(1, 1) = kInf;
  for (int r = 0; r < 8; ++r) input.score(r, 2) = -kInf;
  input.kv(1, 3) = kInf;
  input.score(1, 4) = -kInf;
  Strict::Row row;
  Strict().WeightedMean(input.window(), row);
  EXPECT_TRUE(std::isnan(row.value[0]));
  EXPECT_TRUE(std::isnan(row.value[1]));
  EXPECT_TRUE(std::isnan(row.value[2]));
  EXPECT_EQ(row.value[3], kInf);
  EXPECT_TRUE(std::isfinite(row.value[4]));
}

}  // namespace
}  // namespace kvexact
