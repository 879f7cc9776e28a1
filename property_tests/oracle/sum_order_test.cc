// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/sum_order.h"

#include <gtest/gtest.h>

#include <set>

namespace kvexact::oracle {
namespace {

constexpr SumOrder kTrees[] = {SumOrder::kForward, SumOrder::kReverse, SumOrder::kShuffled,   SumOrder::kPairwise,
                               SumOrder::kHalves,  SumOrder::kStrided, SumOrder::kRandomTree, SumOrder::kLopsided};

// Every term enters the root once, operands are what the flags say.
void ExpectTree(const SumTree& tree, int n) {
  ASSERT_EQ(tree.terms, n);
  ASSERT_EQ(tree.merges.size(), static_cast<std::size_t>(n - 1));
  std::vector<std::multiset<int>> held(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) held[static_cast<std::size_t>(i)] = {i};
  for (const Merge& m : tree.merges) {
    auto& into = held[static_cast<std::size_t>(m.into)];
    auto& from = held[static_cast<std::size_t>(m.from)];
    ASSERT_NE(m.into, m.from);
    ASSERT_FALSE(from.empty());
    ASSERT_FALSE(into.empty());
    EXPECT_EQ(m.into_is_term, into.size() == 1);
    EXPECT_EQ(m.from_is_term, from.size() == 1);
    into.insert(from.begin(), from.end());
    from.clear();
  }
  std::multiset<int> all;
  for (int i = 0; i < n; ++i) all.insert(i);
  EXPECT_EQ(held[static_cast<std::size_t>(tree.root)], all);
}

TEST(SumOrder, EveryTreeAddsEveryTermOnce) {
  Random random(7);
  for (const SumOrder order : kTrees) {
    for (const int n : {1, 2, 3, 4, 5, 7, 8, 31, 32, 100, 512}) ExpectTree(MakeSumTree(order, n, 0, random), n);
  }
}

TEST(SumOrder, TreesStayWithinTheirHeight) {
  Random random(8);
  for (const SumOrder order : kTrees) {
    for (const int n : {2, 3, 8, 33, 128, 300, 512}) {
      for (const int height : {10, 12, 32}) {
        for (int repeat = 0; repeat < 8; ++repeat) {
          const SumTree tree = MakeSumTree(order, n, height, random);
          ExpectTree(tree, n);
          EXPECT_LE(HeightOf(tree), height) << static_cast<int>(order) << ' ' << n;
        }
      }
    }
  }
}

TEST(SumOrder, ChainsAreAsTallAsTheyAreLong) {
  Random random(9);
  EXPECT_EQ(HeightOf(MakeSumTree(SumOrder::kForward, 512, 0, random)), 511);
  EXPECT_EQ(HeightOf(MakeSumTree(SumOrder::kPairwise, 512, 0, random)), 9);
  EXPECT_EQ(HeightOf(MakeSumTree(SumOrder::kHalves, 300, 0, random)), 9);
  EXPECT_GT(HeightOf(MakeSumTree(SumOrder::kLopsided, 512, 32, random)), 16);
}

TEST(SumOrder, RefusesMoreTermsThanATreeHolds) { EXPECT_THROW(PartialsWithin(5, 2), std::invalid_argument); }

}  // namespace
}  // namespace kvexact::oracle
