// SPDX-License-Identifier: Apache-2.0
#include "property_tests/numerics/weight_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "property_tests/numerics/weight_bound.h"

namespace kvexact {
namespace {

// weight_sweep runs over all arguments; here a sample whose stride is prime.
TEST(WeightError, StaysWithinTheStatedBound) {
  for (int shift = 0; shift <= 10; ++shift) {
    const WeightError error = MeasureWeights(BestColumnKernels(), shift, 0x80000000U, 0xFF800001U, 4999);
    EXPECT_GT(error.inputs, 400000);
    EXPECT_LE(error.max_excess, kMaxWeightUlp);
    EXPECT_GT(error.max_excess, 0.5) << "a bound that nothing comes near says nothing";
    EXPECT_LE(error.max_underflow, kMaxWeightUnderflow);
  }
}

TEST(WeightError, EndsAreExact) {
  const float arguments[] = {0.0F, -0.0F, -1e30F, -std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};
  for (int shift = 0; shift <= 10; ++shift) {
    float weight[5];
    BestColumnKernels().strict_weights(arguments, 5, shift, weight);
    EXPECT_EQ(weight[0], std::ldexp(1.0F, -shift));
    EXPECT_EQ(weight[1], std::ldexp(1.0F, -shift));
    EXPECT_EQ(weight[2], 0.0F);
    EXPECT_EQ(weight[3], 0.0F);
    EXPECT_TRUE(std::isnan(weight[4]));
  }
}

}  // namespace
}  // namespace kvexact
