// SPDX-License-Identifier: Apache-2.0
#include "harness/case/token_fate.h"

#include <gtest/gtest.h>

#include <limits>

#include "property_tests/case/small_cases.h"

namespace kvexact {
namespace {

using enum TokenFate;

TEST(TokenFates, FollowTheOrderOfExits) {
  EXPECT_EQ(TokenFates(test::SmallCase(spec::Operation::kSparseAttn)),
            (std::vector{kLive, kNotBoundary, kLive, kNegativeKvSlot, kNegativeSlot, kInert}));
}

TEST(TokenFates, OfGatherSplitKnowNoKvSlot) {
  EXPECT_EQ(TokenFates(test::SmallCase(spec::Operation::kGatherSplit)),
            (std::vector{kLive, kNotBoundary, kLive, kLive, kNegativeSlot, kInert}));
}

TEST(TokenFates, OfQAreLiveBelowNumActual) {
  EXPECT_EQ(TokenFates(test::SmallCase(spec::Operation::kIndexerQFp8)), (std::vector{kLive, kLive, kInert}));
}

TEST(TokenFates, OfExtremePositionsDoNotOverflow) {
  Case c = test::SmallCase(spec::Operation::kSparseAttn);
  std::int64_t* position = c.inputs.at("positions").as<std::int64_t>();
  for (const std::int64_t ratio : {1, 2, 4, 128}) {
    c.params.compress_ratio = ratio;
    // 2^63 is a multiple of every power of two.
    position[0] = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(TokenFates(c)[0], kLive) << ratio;
    position[0] = -1;
    EXPECT_EQ(TokenFates(c)[0], kLive) << ratio;
  }
  c.params.compress_ratio = 3;  // 2^63 = 2 mod 3
  position[0] = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(TokenFates(c)[0], kNotBoundary);
  position[0] = -4;
  EXPECT_EQ(TokenFates(c)[0], kLive);
}

}  // namespace
}  // namespace kvexact
