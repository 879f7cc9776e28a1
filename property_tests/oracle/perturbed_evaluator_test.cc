// SPDX-License-Identifier: Apache-2.0
// The perturbations are what they claim to be: errors within their ulp, orders that only reorder, and
// corners that really move the values.
#include "property_tests/oracle/perturbed_evaluator.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>

#include "property_tests/oracle/hostile_cases.h"
#include "property_tests/oracle/ulp.h"
#include "property_tests/oracle/wide_oracle.h"

namespace kvexact::oracle {
namespace {

TEST(UlpError, StaysWithinItsLimitAndReachesIt) {
  Random random(11);
  for (int i = 0; i < 1000000; ++i) {
    const double magnitude = std::exp2(250 * random.Signed() / 2);
    const double exact = random.Coin() ? magnitude : -magnitude;
    if (std::fabs(exact) < 0x1p-124 || std::fabs(exact) > 0x1p126) continue;
    const double limit = random.Coin() ? 2 : 0.5 + 3 * random.Unit();
    const double k = limit * random.Signed();
    const double ulp = UlpOf(exact);
    ASSERT_EQ(ulp, std::ldexp(1.0, std::ilogb(exact) - 23));
    const double error = static_cast<double>(WithUlpError(exact, k, limit)) - exact;
    ASSERT_LE(std::fabs(error), limit * ulp) << exact;
    ASSERT_LE(std::fabs(error - k * ulp), 2 * ulp) << exact;
    const double most = static_cast<double>(WithUlpError(exact, limit, limit)) - exact;
    ASSERT_GT(most, (limit - 2) * ulp) << exact;  // one step of the result's own grid is at most two ulp
  }
}

TEST(UlpError, KeepsSpecialValues) {
  EXPECT_EQ(WithUlpError(0.0, 2, 2), 0.0F);
  EXPECT_TRUE(std::isnan(WithUlpError(std::nan(""), 2, 2)));
  EXPECT_EQ(WithUlpError(-HUGE_VAL, 2, 2), -HUGE_VALF);
  EXPECT_EQ(WithUlpError(0x1.fffffep127, 2, 2), 0x1.fffffep127F);
  EXPECT_EQ(WithUlpError(1.0, 2, 2), 1 + 0x1p-22F);
  EXPECT_EQ(WithUlpError(1.0, -2, 2), 1 - 0x1p-22F);
}

CompressToken PlainToken(Case& c, std::uint64_t seed, spec::Operation op, int ratio, bool overlap) {
  c = PlainCase(seed, op, ratio, overlap, 2);
  return GatherToken(c, 1);
}

// Columns without any perturbation differ from the real ones by a few u of the mean of |KV|.
TEST(PerturbedEvaluator, UnperturbedIsAccurate) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Case c;
    const CompressToken token = PlainToken(c, seed, spec::Operation::kSparseAttn, 4, true);
    const WideToken wide = EvaluateWide(token);
    ASSERT_EQ(wide.cls, TokenClass::kFinite);
    PerturbedEvaluator evaluator(token);
    for (const SumOrder order : {SumOrder::kForward, SumOrder::kPairwise, SumOrder::kDescending}) {
      Perturbation p;
      p.row_order = p.head_order = order;
      const PerturbedToken got = evaluator.Evaluate(p);
      for (std::size_t d = 0; d < got.columns.size(); ++d) {
        const double scale = wide.absolute[d].ToDouble();
        EXPECT_NEAR(got.columns[d], wide.columns[d].ToDouble(), 16 * 0x1p-24 * scale);
        const double gain = scale * wide.rrms.ToDouble() * std::fabs(static_cast<double>(token.norm_weight[d]));
        EXPECT_NEAR(got.normed[d], wide.normed[d].ToDouble(), 64 * 0x1p-24 * gain);
      }
      EXPECT_NEAR(got.sum_squares, wide.sum_squares.ToDouble(), 512 * 0x1p-24 * wide.sum_squares.ToDouble());
    }
  }
}

// Sums of integers are exact in any order: all perturbations of the order agree to the bit.
TEST(PerturbedEvaluator, OrdersOnlyReorder) {
  Case c;
  CompressToken token = PlainToken(c, 5, spec::Operation::kIndexerFp8, 8, true);
  for (std::size_t i = 0; i < token.kv.size(); ++i) {
    token.score[i] = 3;
    token.kv[i] = static_cast<float>(i % 13) - 6;
  }
  PerturbedEvaluator evaluator(token);
  const PerturbedToken plain = evaluator.Evaluate({});
  for (int order = 0; order <= static_cast<int>(SumOrder::kWorst); ++order) {
    for (int contraction = 0; contraction < 4; ++contraction) {
      Perturbation p;
      p.seed = static_cast<std::uint64_t>(order);
      p.row_order = static_cast<SumOrder>(order);
      p.contraction = static_cast<Contraction>(contraction);
      p.flush = Flush::kAll;
      EXPECT_EQ(evaluator.Evaluate(p).columns, plain.columns);
    }
  }
}

// Aimed corners move every column where they aim, and further than a plain evaluation.
TEST(PerturbedEvaluator, AimedCornersMoveColumns) {
  Case c;
  const CompressToken token = PlainToken(c, 6, spec::Operation::kSparseAttn, 4, true);
  const WideToken wide = EvaluateWide(token);
  PerturbedEvaluator evaluator(token);
  for (const Aim aim : {Aim::kUp, Aim::kDown}) {
    Perturbation p;
    p.aim = aim;
    p.exp = p.divide = UlpChoice::kAimed;
    p.row_order = SumOrder::kWorst;
    p.contraction = Contraction::kAimed;
    const PerturbedToken got = evaluator.Evaluate(p);
    int moved = 0;
    for (std::size_t d = 0; d < got.columns.size(); ++d) {
      const double error = static_cast<double>(got.columns[d]) - wide.columns[d].ToDouble();
      if ((aim == Aim::kUp ? error : -error) > 0) ++moved;
    }
    EXPECT_GT(moved, 505);
  }
}

TEST(PerturbedEvaluator, FlushZeroesSubnormalsAlone) {
  Case c;
  CompressToken token = PlainToken(c, 7, spec::Operation::kIndexerFp8, 1, false);
  for (std::size_t d = 0; d < token.kv.size(); ++d) token.kv[d] = d % 2 == 0 ? -0x1p-127F : 0x1p-126F;
  PerturbedEvaluator evaluator(token);
  Perturbation p;
  const PerturbedToken kept = evaluator.Evaluate(p);
  p.flush = Flush::kInputs;
  const PerturbedToken flushed = evaluator.Evaluate(p);
  for (std::size_t d = 0; d < token.kv.size(); ++d) {
    EXPECT_EQ(kept.columns[d], token.kv[d]);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(flushed.columns[d]),
              std::bit_cast<std::uint32_t>(d % 2 == 0 ? -0.0F : 0x1p-126F));
  }
}

TEST(PerturbedEvaluator, OnlineSoftmaxComputesTheSameMeans) {
  Case c;
  const CompressToken token = PlainToken(c, 8, spec::Operation::kIndexerFp8, 16, true);
  const WideToken wide = EvaluateWide(token);
  PerturbedEvaluator evaluator(token);
  for (const int rows : {1, 3, 8, 32}) {
    Perturbation p;
    p.online_rows = rows;
    const PerturbedToken got = evaluator.Evaluate(p);
    for (std::size_t d = 0; d < got.columns.size(); ++d) {
      EXPECT_NEAR(got.columns[d], wide.columns[d].ToDouble(), 200 * 0x1p-24 * wide.absolute[d].ToDouble());
    }
  }
}

// Gather: a state cache whose every value names its own address.
TEST(Gather, ReadsTheAddressesOfTheContract) {
  Case c = PlainCase(9, spec::Operation::kIndexerFp8, 4, true, 3);
  Tensor& state = c.inputs.at("state_cache");
  for (std::int64_t i = 0; i < state.elements(); ++i) state.as<float>()[i] = static_cast<float>(i);
  const Params& p = c.params;
  for (std::int64_t t = 0; t < 3; ++t) {
    ASSERT_EQ(ExitOf(c, t), Exit::kNone);
    const CompressToken token = GatherToken(c, t);
    const std::int64_t position = c.inputs.at("positions").as<std::int64_t>()[t];
    const Tensor& table = c.inputs.at("block_table");
    for (int r = 0; r < 8; ++r) {
      const std::int64_t at = position - 7 + r;
      for (const int d : {0, 1, 77, 127}) {
        const std::size_t i = static_cast<std::size_t>(r * 128 + d);
        if (at < 0) {
          EXPECT_EQ(token.score[i], -HUGE_VALF);
          EXPECT_EQ(token.kv[i], 0.0F);
          continue;
        }
        const std::int64_t block = table.as<std::int32_t>()[table.dim(1) + at / p.block_size];
        const std::int64_t row = block * state.dim(1) + at % p.block_size * p.state_row_stride + (r < 4 ? 0 : 128);
        EXPECT_EQ(token.kv[i], static_cast<float>(row + d));
        EXPECT_EQ(token.score[i], static_cast<float>(row + d + p.state_width));
      }
    }
  }
}

TEST(HostileCases, AreUsableAndReachEveryClass) {
  int classes[5] = {};
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Case c = HostileCompressCase(seed);
    ASSERT_NO_THROW(Check(c)) << seed;
    ASSERT_NO_THROW(Check(HostileQCase(seed))) << seed;
    if (c.params.compress_ratio > 16) continue;
    for (std::int64_t t = 0; t < c.params.num_actual; ++t) {
      if (ExitOf(c, t) == Exit::kNone) ++classes[static_cast<int>(EvaluateWide(GatherToken(c, t)).cls)];
    }
  }
  EXPECT_GT(classes[static_cast<int>(TokenClass::kFinite)], 100);
  EXPECT_GT(classes[static_cast<int>(TokenClass::kZeroByOverflow)], 5);
  EXPECT_GT(classes[static_cast<int>(TokenClass::kInfiniteKv)], 0);
  EXPECT_GT(classes[static_cast<int>(TokenClass::kNan)], 3);
}

}  // namespace
}  // namespace kvexact::oracle
