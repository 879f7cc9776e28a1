// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kvexact::bench {
namespace {

Comparison Of(double before_us, double now_us) {
  Comparison c{.row = Workloads().front()};
  c.pairs.a_us.assign(50, before_us);
  c.pairs.b_us.assign(50, now_us);
  c.clocks = {1950, 1980, 0};
  return c;
}

Comparison Unsupported() {
  Comparison c{.row = Workloads().front()};
  c.unsupported = "not here";
  return c;
}

TEST(Outcome, IsTheWorstOfTheWorkloads) {
  Comparison ambiguous = Of(100, 120);
  ambiguous.pairs.clocks_moved = true;
  EXPECT_EQ(OutcomeOf({}), Outcome::kNothing);
  EXPECT_EQ(OutcomeOf({Unsupported()}), Outcome::kNothing);
  EXPECT_EQ(OutcomeOf({Unsupported(), Of(100, 100)}), Outcome::kNotSlower);
  EXPECT_EQ(OutcomeOf({Of(100, 100), ambiguous}), Outcome::kAmbiguous);
  EXPECT_EQ(OutcomeOf({ambiguous, Of(100, 110), Of(100, 90)}), Outcome::kSlower);
}

TEST(ComparisonText, SaysWhatWasDecided) {
  const std::string text = ComparisonText({Of(100, 110), Unsupported()});
  EXPECT_NE(text.find("[10.00, 10.00]  slower, 1950 to 1980 MHz"), std::string::npos) << text;
  EXPECT_NE(text.find("unsupported: not here"), std::string::npos) << text;
}

TEST(ComparisonJson, HoldsTheRounds) {
  const auto line = nlohmann::json::parse(ComparisonJson({Of(100, 110)}));
  EXPECT_EQ(line["decision"], "slower");
  EXPECT_EQ(line["before_us"].size(), 50U);
  EXPECT_EQ(line["now_us"][7], 110);
  EXPECT_EQ(line["clock_mhz"][1], 1980);
}

TEST(Clocks, MoveByMoreThanAFiftiethOrForPowerOrHeat) {
  EXPECT_FALSE((ClockRecord{1950, 1980, 0}.Moved()));
  EXPECT_TRUE((ClockRecord{1900, 1980, 0}.Moved()));
  EXPECT_FALSE((ClockRecord{0, 0, 0}.Moved()));
  EXPECT_FALSE((ClockRecord{1980, 1980, 0x1}.Moved()));  // idle
  EXPECT_TRUE((ClockRecord{1980, 1980, 0x4}.Moved()));   // power cap
  ClockRecord all{1980, 1980, 0};
  all.Add({});
  EXPECT_EQ(all.lowest_mhz, 1980U);
  all.Add({1800, 1800, 0x4});
  EXPECT_EQ(all.lowest_mhz, 1800U);
  EXPECT_TRUE(all.Moved());
}

}  // namespace
}  // namespace kvexact::bench
