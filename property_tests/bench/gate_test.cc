// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/gate.h"

#include <gtest/gtest.h>

#include <random>

namespace kvexact::bench {
namespace {

// Rounds whose times have a long upper tail, as those of a device have; B takes `more` times as long.
PairedRounds Rounds(std::size_t count, double us, double more, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto noise = [&] {
    const double u = static_cast<double>(random() >> 11) * 0x1p-53;
    return 1.0 + 0.01 * u + (random() % 20 == 0 ? 0.3 * u : 0.0);
  };
  PairedRounds pairs;
  for (std::size_t i = 0; i < count; ++i) {
    pairs.a_us.push_back(us * noise());
    pairs.b_us.push_back(us * more * noise());
  }
  return pairs;
}

TEST(Gate, CallsTheSameThingTheSame) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    for (const double us : {4.0, 130.0}) {
      EXPECT_EQ(Decide(Rounds(50, us, 1, seed)).decision, Decision::kSame) << seed << " " << us;
    }
  }
}

TEST(Gate, SeesFivePercentAboveTwentyMicroseconds) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    EXPECT_EQ(Decide(Rounds(50, 20, 1.05, seed)).decision, Decision::kSlower) << seed;
  }
}

TEST(Gate, SeesWhatIsFaster) { EXPECT_EQ(Decide(Rounds(50, 100, 0.5, 1)).decision, Decision::kFaster); }

TEST(Gate, IntervalHoldsTheMedianAndTheDecisionFollowsFromIt) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Gate gate = Decide(Rounds(30 + seed % 100, 50, 1 + 0.0002 * static_cast<double>(seed), seed));
    EXPECT_LE(gate.low_us, gate.median_us);
    EXPECT_LE(gate.median_us, gate.high_us);
    const Decision expected = gate.high_us <= gate.tolerance_us ? Decision::kSame
                              : gate.low_us > gate.tolerance_us ? Decision::kSlower
                                                                : Decision::kAmbiguous;
    EXPECT_EQ(gate.decision, expected);
  }
}

TEST(Gate, FewRoundsAreAmbiguous) {
  EXPECT_EQ(Decide({}).decision, Decision::kAmbiguous);
  EXPECT_EQ(Decide(Rounds(14, 100, 2, 1)).decision, Decision::kAmbiguous);
  EXPECT_EQ(Decide(Rounds(16, 100, 2, 1)).decision, Decision::kSlower);
}

TEST(Gate, MovedClocksMakeSlowerAndFasterAmbiguous) {
  PairedRounds pairs;
  for (const double more : {1.2, 0.8}) {
    pairs = Rounds(50, 100, more, 1);
    pairs.clocks_moved = true;
    EXPECT_EQ(Decide(pairs).decision, Decision::kAmbiguous);
  }
  pairs = Rounds(50, 100, 1, 1);
  pairs.clocks_moved = true;
  EXPECT_EQ(Decide(pairs).decision, Decision::kSame);
}

}  // namespace
}  // namespace kvexact::bench
