// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/counter_hash.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "harness/generate/exact_float.h"

namespace kvexact::generate {
namespace {

TEST(CounterHash, GivesTheKnownNumbersOfSplitMix64) {
  constexpr std::uint64_t kKnown[] = {6457827717110365317U, 3203168211198807973U, 9817491932198370423U,
                                      4593380528125082431U, 16408922859458223821U};
  for (std::size_t i = 0; i < std::size(kKnown); ++i) EXPECT_EQ(At(1234567, i), kKnown[i]);
}

TEST(StreamKeys, DifferWithEveryName) {
  EXPECT_NE(StreamKey(1, {2, 3}), StreamKey(1, {3, 2}));
  EXPECT_NE(StreamKey(1, {2}), StreamKey(2, {2}));
  EXPECT_NE(StreamKey(1, {2}), StreamKey(1, {2, 0}));
}

TEST(Stream, ReachesEveryNumberBelowABoundAboutEquallyOften) {
  Stream stream(7);
  std::array<int, 5> counts{};
  for (int i = 0; i < 5000; ++i) ++counts[static_cast<std::size_t>(stream.Below(5))];
  for (const int count : counts) EXPECT_NEAR(count, 1000, 150);
}

TEST(Stream, PicksByWeight) {
  Stream stream(8);
  int second = 0;
  for (int i = 0; i < 4000; ++i) second += stream.PickWeighted<int>({{0, 3}, {1, 1}});
  EXPECT_NEAR(second, 1000, 120);
}

TEST(Stream, ShufflesToAPermutation) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  std::vector<int> shuffled = items;
  Stream(9).Shuffle(shuffled);
  EXPECT_NE(shuffled, items);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, items);
}

TEST(Bell, HasMeanZeroAndDeviationOne) {
  double sum = 0;
  double squares = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const double x = Bell(At(3, i));
    sum += x;
    squares += x * x;
    EXPECT_LE(x, 3.0);
    EXPECT_GE(x, -3.0);
  }
  EXPECT_NEAR(sum / 100000, 0, 0.02);
  EXPECT_NEAR(squares / 100000, 1, 0.02);
}

TEST(Bf16Bits, RoundToNearestEven) {
  EXPECT_EQ(Bf16Bits(1.0F), 0x3F80);
  EXPECT_EQ(Bf16Bits(0x1.01p0F), 0x3F80);      // a tie, to even
  EXPECT_EQ(Bf16Bits(0x1.03p0F), 0x3F82);      // a tie, to even
  EXPECT_EQ(Bf16Bits(0x1.010002p0F), 0x3F81);  // just above a tie
  EXPECT_EQ(Bf16Bits(-0.0F), 0x8000);
  EXPECT_EQ(Bf16Bits(0x1.fffffep127F), 0x7F80);
  EXPECT_EQ(Bf16Bits(std::bit_cast<float>(0x7F800001U)) & 0x7FFF, 0x7FC0);
}

}  // namespace
}  // namespace kvexact::generate
