// SPDX-License-Identifier: Apache-2.0
// The strict model against the real numbers: how far its fp32 columns and normed values are from exact,
// and whether what it stores is what exact values would store.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "property_tests/oracle/enclosed_stages.h"
#include "property_tests/oracle/hostile_cases.h"
#include "property_tests/oracle/stored.h"
#include "property_tests/oracle/ulp.h"
#include "property_tests/oracle/wide_oracle.h"

namespace kvexact::oracle {
namespace {

struct Shape {
  const char* name;
  spec::Operation op;
  int ratio;
  bool overlap;
  int tokens;
  double mean_ulp;  // of a column, at the scale of the mean of |KV|
  double largest_ulp;
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

class StrictWitness : public testing::TestWithParam<Shape> {};

// Errors are measured in ulp of the weighted mean of |KV|: cancellation between rows is the data's.
TEST_P(StrictWitness, ColumnsAreWithinAFewUlp) {
  const Shape& shape = GetParam();
  double sum = 0;
  double largest = 0;
  double largest_normed = 0;
  std::int64_t count = 0;
  std::int64_t codes = 0;
  std::int64_t same_codes = 0;
  std::int64_t blocks = 0;
  std::int64_t same_exponents = 0;
  const Case c = PlainCase(17, shape.op, shape.ratio, shape.overlap, shape.tokens);
  Check(c);
  const CompressBinding binding(c);
  for (std::int64_t t = 0; t < c.params.num_actual; ++t) {
    ASSERT_EQ(ExitOf(c, t), Exit::kNone);
    const CompressToken token = GatherToken(c, t);
    const WideToken wide = EvaluateWide(token);
    const PerturbedToken strict = EvaluateStrict(binding.inputs(), t);
    for (std::size_t d = 0; d < strict.columns.size(); ++d) {
      const double scale = wide.absolute[d].ToDouble();
      const double error = std::fabs((Wide(strict.columns[d]) - wide.columns[d]).ToDouble()) / UlpOf(scale);
      sum += error;
      largest = std::max(largest, error);
      ++count;
      const double gain = scale * wide.rrms.ToDouble() * std::fabs(static_cast<double>(token.norm_weight[d]));
      largest_normed =
          std::max(largest_normed, std::fabs((Wide(strict.normed[d]) - wide.normed[d]).ToDouble()) / UlpOf(gain));
    }
    const StoredToken ideal = StoreIdeal(token, wide);
    const StoredToken stored = StorePerturbed(token, strict);
    for (std::size_t b = 0; b < ideal.blocks.size(); ++b) {
      ++blocks;
      if (ideal.blocks[b].exponent == stored.blocks[b].exponent) ++same_exponents;
      for (std::size_t i = 0; i < ideal.blocks[b].codes.size(); ++i) {
        ++codes;
        if (ideal.blocks[b].codes[i] == stored.blocks[b].codes[i]) ++same_codes;
      }
    }
  }
  const double mean = sum / static_cast<double>(count);
  std::cout << shape.name << ": columns mean " << mean << " ulp, largest " << largest << "; normed largest "
            << largest_normed << " ulp; codes as ideal " << same_codes << " of " << codes << ", exponents "
            << same_exponents << " of " << blocks << '\n';
  EXPECT_LT(mean, shape.mean_ulp);
  EXPECT_LT(largest, shape.largest_ulp);
  EXPECT_LT(largest_normed, 2 * shape.largest_ulp + 4);
  // bf16 rounding hides all but a few errors in 10,000.
  EXPECT_GE(same_codes, codes - codes / 500 - 2);
  EXPECT_GE(same_exponents, blocks - 1);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StrictWitness,
    testing::Values(Shape{"sparse_attn_ratio_4", spec::Operation::kSparseAttn, 4, true, 8, 0.5, 4},
                    Shape{"sparse_attn_ratio_128", spec::Operation::kSparseAttn, 128, false, 1, 1, 6},
                    Shape{"indexer_fp8_ratio_4", spec::Operation::kIndexerFp8, 4, true, 32, 0.5, 4},
                    Shape{"indexer_mxfp4_ratio_4", spec::Operation::kIndexerMxfp4, 4, true, 32, 0.5, 4},
                    Shape{"sparse_attn_ratio_1", spec::Operation::kSparseAttn, 1, false, 8, 0.3, 2}),
    [](const testing::TestParamInfo<Shape>& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace kvexact::oracle
