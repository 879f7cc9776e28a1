// SPDX-License-Identifier: Apache-2.0
// Every instruction set computes the same bits.
#include "reference/numerics/column_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "property_tests/numerics/random_window.h"

namespace kvexact {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

const ColumnKernels* Other() { return Avx2ColumnKernels(); }

void ExpectSameMeans(const RandomWindow& input) {
  const Window& w = input.window();
  std::vector<float> base(static_cast<std::size_t>(w.columns));
  std::vector<float> other(base.size());
  BaseColumnKernels().strict_mean(w.score.data(), w.kv.data(), w.masked, w.rows(), w.columns, base.data());
  Other()->strict_mean(w.score.data(), w.kv.data(), w.masked, w.rows(), w.columns, other.data());
  for (std::size_t c = 0; c < base.size(); ++c) {
    if (std::isnan(base[c])) {
      EXPECT_TRUE(std::isnan(other[c])) << c;
    } else {
      EXPECT_EQ(std::memcmp(&base[c], &other[c], sizeof(float)), 0) << c << ": " << base[c] << " " << other[c];
    }
  }
}

TEST(ColumnKernels, StrictMeansAgreeBitForBit) {
  if (Other() == nullptr) GTEST_SKIP() << "no AVX2 and FMA here";
  std::uint64_t seed = 1;
  for (const int rows : {1, 2, 3, 8, 9, 16, 33, 128, 256}) {
    for (const float spread : {0.0F, 1.0F, 40.0F, 1000.0F}) {
      for (const float scale : {1.0F, 1e-38F, 1e-42F, 1e38F, 3.4e38F}) {
        RandomWindow input(rows, 72, spread, scale, seed++);
        input.mask(rows / 3);
        ExpectSameMeans(input);
      }
    }
  }
}

TEST(ColumnKernels, StrictMeansAgreeOnNanAndInfinity) {
  if (Other() == nullptr) GTEST_SKIP() << "no AVX2 and FMA here";
  RandomWindow input(8, 16, 1, 1, 7);
  input.score(3, 0) = kNan;
  input.score(3, 1) = kInf;
  input.score(3, 2) = -kInf;
  for (int r = 0; r < 8; ++r) input.score(r, 3) = -kInf;
  input.kv(2, 4) = kNan;
  input.kv(2, 5) = kInf;
  input.kv(2, 6) = -kInf;
  input.kv(5, 6) = kInf;
  input.score(2, 7) = -kInf;
  input.kv(2, 7) = kInf;
  ExpectSameMeans(input);
}

TEST(ColumnKernels, EnclosuresAgreeBitForBit) {
  if (Other() == nullptr) GTEST_SKIP() << "no AVX2 and FMA here";
  // The default, an online and a scaled one; the last also where scaled scores may grow the weights.
  const ColumnErrorModel plain{2, 1.25, 0, 2, 0, 0, 0x1p-126, 0x1p-149, 0x1p-126};
  ColumnErrorModel online = plain;
  online.rescalings = 1 << 20;
  ColumnErrorModel scaled = plain;
  scaled.scaled_terms = 1;
  ColumnErrorModel growing = scaled;
  growing.scaled_terms = 0x1p22;
  for (const auto& [model, rows] :
       {std::pair{plain, 1}, {plain, 8}, {plain, 100}, {online, 8}, {scaled, 8}, {growing, 8}}) {
    RandomWindow input(rows, 40, 30, 2, static_cast<std::uint64_t>(rows));
    const Window& w = input.window();
    std::vector<double> work(static_cast<std::size_t>(rows * kEncloseWorkspace));
    double mid[2][40];
    double rad[2][40];
    unsigned char overflow[2][40];
    BaseColumnKernels().enclose_mean(model, w.score.data(), w.kv.data(), 0, rows, 40, work.data(), mid[0], rad[0],
                                     overflow[0]);
    Other()->enclose_mean(model, w.score.data(), w.kv.data(), 0, rows, 40, work.data(), mid[1], rad[1], overflow[1]);
    EXPECT_EQ(std::memcmp(mid[0], mid[1], sizeof(mid[0])), 0);
    EXPECT_EQ(std::memcmp(rad[0], rad[1], sizeof(rad[0])), 0);
    EXPECT_EQ(std::memcmp(overflow[0], overflow[1], sizeof(overflow[0])), 0);
  }
}

TEST(ColumnKernels, SumsOfSquaresAgreeBitForBit) {
  if (Other() == nullptr) GTEST_SKIP() << "no AVX2 and FMA here";
  RandomWindow input(1, 512, 1, 3, 11);
  for (const int columns : {4, 64, 128, 256, 512}) {
    const float base = BaseColumnKernels().strict_sum_of_squares(input.window().kv[0], columns);
    const float other = Other()->strict_sum_of_squares(input.window().kv[0], columns);
    EXPECT_EQ(base, other);
    EXPECT_GT(base, 0);
  }
}

}  // namespace
}  // namespace kvexact
