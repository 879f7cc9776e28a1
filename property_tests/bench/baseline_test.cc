// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/baseline.h"

#include <gtest/gtest.h>

namespace kvexact::bench {
namespace {

class BaselineTest : public testing::Test {
 protected:
  BaselineTest() {
    description_.device = baseline_.device = "NVIDIA H200";
    description_.limits = {2.5, 4e12};
    baseline_.limits = Limits{2.5, 4e12};
    const WorkloadRow& row = Workloads().front();
    measurements_ = {{row, 100, 0.01, ""}};
    baseline_.rows = {{row.kernel, row.mode, row.tokens, 100}};
  }

  std::vector<std::string> Lines() const { return CompareWithBaseline(description_, measurements_, baseline_); }
  // The only line, without the workload's name.
  std::string Line() const {
    const std::vector<std::string> lines = Lines();
    EXPECT_EQ(lines.size(), 1U);
    if (lines.size() != 1) return "";
    const std::string name = Workloads().front().Name() + ": ";
    return lines[0].starts_with(name) ? lines[0].substr(name.size()) : lines[0];
  }

  BenchDescription description_;
  std::vector<Measurement> measurements_;
  Peers baseline_;
};

TEST_F(BaselineTest, SameTimesSayNothing) { EXPECT_TRUE(Lines().empty()); }

TEST_F(BaselineTest, FasterSaysNothing) {
  measurements_[0].us = 50;
  EXPECT_TRUE(Lines().empty());
}

TEST_F(BaselineTest, SlowerThanTheToleranceIsNamed) {
  measurements_[0].us = 105;
  EXPECT_TRUE(Lines().empty());
  measurements_[0].us = 106;
  EXPECT_EQ(Line(), "106.00 us, 100.00 us in the baseline (+6.0 %)");
}

TEST_F(BaselineTest, WhatTodaysSpreadExplainsIsNot) {
  measurements_[0].us = 110;
  measurements_[0].spread = 0.04;
  EXPECT_TRUE(Lines().empty());
}

TEST_F(BaselineTest, SlowerEmptyLaunchesAreTheMachines) {
  measurements_[0].us = 106;
  description_.limits.empty_us = 4.5;
  EXPECT_TRUE(Lines().empty());
}

TEST_F(BaselineTest, AnotherDeviceIsNamed) {
  description_.device = "NVIDIA B200";
  EXPECT_EQ(Line(), "taken on NVIDIA H200, this is NVIDIA B200");
}

TEST_F(BaselineTest, WhatOneSideLacksIsNamed) {
  baseline_.rows[0].tokens += 1;
  EXPECT_EQ(Line(), "not in the baseline");
  baseline_.rows[0].tokens -= 1;
  measurements_[0].unsupported = "no such window";
  EXPECT_EQ(Line(), "100.00 us in the baseline, unsupported now");
}

// The baselines in the tree are read and hold every workload.
TEST(Baselines, HoldEveryWorkload) {
  const Peers baseline = ReadPeers(KVEXACT_BASELINES "/nvidia-h200.jsonl");
  EXPECT_EQ(baseline.device, "NVIDIA H200");
  ASSERT_TRUE(baseline.limits.has_value());
  for (const WorkloadRow& row : Workloads()) EXPECT_TRUE(baseline.Best(row).has_value()) << row.Name();
}

}  // namespace
}  // namespace kvexact::bench
