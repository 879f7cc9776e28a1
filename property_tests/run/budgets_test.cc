// SPDX-License-Identifier: Apache-2.0
#include "harness/run/budgets.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "harness/backend/backend.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

class AdmittingBudgetsTest : public testing::Test {
 protected:
  AdmittingBudgetsTest() : evidence_{Generate(ParseSpec("op=gather_split ratio=4 scores=high requests=0+4")), {}, {}} {
    evidence_.before = evidence_.c.outputs_before;
    evidence_.after = evidence_.before;
    MakeReferenceBackend()->Run(evidence_.c, evidence_.after);
  }

  bool Wrong(const char* budget) const {
    JudgeOptions options;
    options.budget = FindBudget(budget);
    return Judge(evidence_.c, options, evidence_.before, evidence_.after).total().wrong > 0;
  }

  // Moves the first value of the only live token by so many steps of fp32.
  void Shift(std::int32_t steps) {
    std::uint8_t* value =
        evidence_.after.at("scratch").bytes() + 3 * evidence_.c.outputs_before.at("scratch").dim(1) * 4;
    std::uint32_t bits = 0;
    std::memcpy(&bits, value, sizeof bits);
    bits += static_cast<std::uint32_t>(steps);
    std::memcpy(value, &bits, sizeof bits);
  }

  Evidence evidence_;
};

TEST_F(AdmittingBudgetsTest, RightOutputsAreAdmittedByEveryOtherBudget) {
  EXPECT_EQ(AdmittingBudgets(evidence_, {}), (std::vector<std::string>{"tree32", "scaled-exp2", "online"}));
}

// Scores around 1000 scaled by separately rounded terms: far wider sets than those of the difference.
TEST_F(AdmittingBudgetsTest, ValueBeyondDefaultIsAdmittedByTheBudgetThatReachesIt) {
  std::int32_t steps = 0;
  while (!Wrong("default") && steps < 100000) {
    Shift(8);
    steps += 8;
  }
  ASSERT_TRUE(Wrong("default"));
  const std::vector<std::string> admitted = AdmittingBudgets(evidence_, {});
  EXPECT_NE(std::find(admitted.begin(), admitted.end(), "scaled-exp2"), admitted.end());
  EXPECT_EQ(std::find(admitted.begin(), admitted.end(), "tree32"), admitted.end());
}

TEST_F(AdmittingBudgetsTest, NoBudgetAdmitsAnotherValue) {
  Shift(1 << 27);
  EXPECT_TRUE(AdmittingBudgets(evidence_, {}).empty());
}

}  // namespace
}  // namespace kvexact
