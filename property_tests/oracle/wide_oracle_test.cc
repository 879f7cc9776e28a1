// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/wide_oracle.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kvexact::oracle {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

// A token of indexer_fp8 whose columns all hold `rows` given (score, kv) pairs.
CompressToken Uniform(const std::vector<std::pair<float, float>>& rows) {
  CompressToken t;
  t.op = spec::Operation::kIndexerFp8;
  t.head_dim = 128;
  t.rope_dim = 64;
  t.rows = static_cast<int>(rows.size());
  for (const auto& [score, kv] : rows) {
    t.score.insert(t.score.end(), 128, score);
    t.kv.insert(t.kv.end(), 128, kv);
  }
  t.norm_weight.assign(128, 1.0F);
  t.cos.assign(32, 1.0F);
  t.sin.assign(32, 0.0F);
  t.eps = 1e-6F;
  return t;
}

TEST(WideOracle, OneRowIsItself) {
  const WideToken w = EvaluateWide(Uniform({{-3.5F, 0.3F}}));
  EXPECT_EQ(w.cls, TokenClass::kFinite);
  for (const Wide& c : w.columns) EXPECT_TRUE(c == Wide(0.3F));
  EXPECT_EQ(w.sum_squares.ToDouble(), (Wide(0.3F) * Wide(0.3F)).ToDouble() * 128);
  EXPECT_NEAR(w.rrms.ToDouble(), 1 / std::sqrt(0.3F * static_cast<double>(0.3F) + 1e-6), 1e-9);
}

TEST(WideOracle, EqualScoresAverage) {
  const WideToken w = EvaluateWide(Uniform({{1000, 1}, {1000, 2}, {1000, 6}, {-kInf, 99}}));
  for (const Wide& c : w.columns) EXPECT_TRUE(Abs(c - Wide(3.0)) < Wide(1e-80));
}

TEST(WideOracle, WeightsAreExponentials) {
  const double expected = (1 + std::exp(-1.5) * 7) / (1 + std::exp(-1.5));
  const WideToken w = EvaluateWide(Uniform({{2.0F, 1}, {0.5F, 7}}));
  EXPECT_NEAR(w.columns[17].ToDouble(), expected, 1e-14);
  // Cancellation far below double precision is kept: (2^100 - 2^100 + 2^-100) / 3.
  const WideToken residue = EvaluateWide(Uniform({{0, 0x1p100F}, {0, -0x1p100F}, {0, 0x1p-100F}}));
  EXPECT_TRUE(Abs(Scale(residue.columns[0], 100) * Wide(3.0) - Wide(1.0)) < Wide(1e-30));
}

TEST(WideOracle, RotationTurnsPairsByTheTable) {
  CompressToken t = Uniform({{0, 1}});
  for (std::size_t d = 0; d < 128; ++d) t.kv[d] = static_cast<float>(d + 1);
  t.cos.assign(32, 0.0F);
  t.sin.assign(32, 1.0F);
  const WideToken w = EvaluateWide(t);
  for (std::size_t d = 0; d < 64; ++d) EXPECT_TRUE(w.rotated[d] == w.normed[d]);
  for (std::size_t d = 64; d < 128; d += 2) {
    EXPECT_TRUE(w.rotated[d] == -w.normed[d + 1]);
    EXPECT_TRUE(w.rotated[d + 1] == w.normed[d]);
  }
}

TEST(WideOracle, Classes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(EvaluateWide(Uniform({{0, 1}, {nan, 1}})).cls, TokenClass::kNan);
  EXPECT_EQ(EvaluateWide(Uniform({{0, 1}, {0, nan}})).cls, TokenClass::kNan);
  EXPECT_EQ(EvaluateWide(Uniform({{0, 1}, {kInf, 1}})).cls, TokenClass::kNan);
  EXPECT_EQ(EvaluateWide(Uniform({{-kInf, 1}, {-kInf, 1}})).cls, TokenClass::kNan);
  EXPECT_EQ(EvaluateWide(Uniform({{0, 1}, {-kInf, kInf}})).cls, TokenClass::kNan);
  EXPECT_EQ(EvaluateWide(Uniform({{0, 1}, {-200, kInf}})).cls, TokenClass::kNan);
  EXPECT_EQ(EvaluateWide(Uniform({{0, -kInf}, {1, kInf}})).cls, TokenClass::kNan);
  EXPECT_EQ(EvaluateWide(Uniform({{0, 1}, {-90, kInf}})).cls, TokenClass::kUnspecified);
  EXPECT_EQ(EvaluateWide(Uniform({{0, 1}, {-1, kInf}})).cls, TokenClass::kInfiniteKv);

  // One infinite column: it and, through x * 1 - y * 0, its partner are NaN, the rest zeros of their signs.
  CompressToken t = Uniform({{0, -1}});
  t.kv[4] = kInf;
  const WideToken w = EvaluateWide(t);
  EXPECT_EQ(w.cls, TokenClass::kInfiniteKv);
  EXPECT_TRUE(w.rrms.IsZero());
  for (std::size_t d = 0; d < 128; ++d) {
    EXPECT_EQ(w.rotated[d].IsNan(), d == 4 || d == 5) << d;
    EXPECT_EQ(w.rotated[d].IsZero(), d != 4 && d != 5) << d;
  }
}

TEST(WideOracle, TheNormOverflowsAtTwoTo128) {
  // 128 columns of 2^60.5 give 2^128; just below, the sum rounds to a finite fp32.
  const float above = 0x1.6a09e8p60F;
  const float below = 0x1.6a09dep60F;
  EXPECT_EQ(EvaluateWide(Uniform({{0, above}})).cls, TokenClass::kZeroByOverflow);
  EXPECT_EQ(EvaluateWide(Uniform({{0, below}})).cls, TokenClass::kFinite);
  const WideToken w = EvaluateWide(Uniform({{0, -above}}));
  for (const Wide& x : w.rotated) EXPECT_TRUE(x.IsZero());
  const StoredToken stored = StoreIdeal(Uniform({{0, -above}}), w);
  EXPECT_EQ(stored.blocks[0].exponent, -22);
}

TEST(WideOracle, FoldedWeightsAreExactProducts) {
  QHead head;
  head.kind = QKind::kFp8;
  head.head_dim = 128;
  head.rope_dim = 64;
  head.q.assign(128, 1.0F);
  head.cos.assign(32, 1.0F);
  head.sin.assign(32, 0.0F);
  head.weight = 3;
  head.softmax_scale = 0.5F;
  head.head_scale = 0.25F;
  const WideQ q = EvaluateWide(head);  // 1 <= 448 * 2^-8 and no less
  EXPECT_EQ(q.stored.blocks[0].exponent, -8);
  EXPECT_EQ(q.weight_fp32, 3 * 0.125F * 0x1p-8F);
  head.kind = QKind::kMxfp4;
  EXPECT_EQ(EvaluateWide(head).weight_fp32, 3 * 0.125F);
}

}  // namespace
}  // namespace kvexact::oracle
