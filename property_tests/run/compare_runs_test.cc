// SPDX-License-Identifier: Apache-2.0
#include "harness/run/compare_runs.h"

#include <gtest/gtest.h>

#include "harness/backend/backend.h"
#include "harness/run/poison.h"
#include "property_tests/run/small_specs.h"

namespace kvexact {
namespace {

// Two runs that stored what the model stores, and what the judge said of the first.
class CompareRunsTest : public testing::Test {
 protected:
  CompareRunsTest() {
    TensorMap strict = case_.outputs_before;
    MakeReferenceBackend()->Run(case_, strict);
    runs_.first = {Poisoned(strict, written_, kFirstPoison, 1), {}};
    runs_.second = {Poisoned(strict, written_, kSecondPoison, 1), {}};
    for (RunOutputs* run : {&runs_.first, &runs_.second}) {
      run->after = run->before;
      MakeReferenceBackend()->Run(case_, run->after);
    }
    result_.verdict = Judge(case_, {}, runs_.first.before, runs_.first.after);
  }

  std::uint8_t* CodeOf(TensorMap& outputs, std::int64_t i) const {
    return outputs.at("kv_cache").bytes() + written_.at("kv_cache").front().begin + i;
  }

  void KeepPoison(std::int64_t i) {
    for (RunOutputs* run : {&runs_.first, &runs_.second}) *CodeOf(run->after, i) = *CodeOf(run->before, i);
  }

  void Compare() { CompareRuns(case_, SeedStages(), written_, runs_, result_); }
  Tally& codes() { return result_.verdict.tally(ElementKind::kCode); }

  const Case case_ = SmallCase(SmallSpecs().front());
  const ByteRanges written_ = WrittenBytes(case_, SeedStages());
  CaseRuns runs_;
  CaseResult result_;
};

TEST_F(CompareRunsTest, EqualRunsChangeNothing) {
  const Tally before = codes();
  Compare();
  EXPECT_TRUE(result_.right());
  EXPECT_EQ(codes().exact, before.exact);
  EXPECT_TRUE(result_.verdict.problems.empty());
}

// The judge took the poison for a member of the set.
TEST_F(CompareRunsTest, AllowedElementThatKeptItsPoisonIsUnwritten) {
  KeepPoison(3);
  --codes().exact;
  ++codes().allowed;
  Compare();
  EXPECT_EQ(codes().allowed, 0);
  EXPECT_EQ(codes().unwritten, 1);
  EXPECT_EQ(result_.unstable_elements(), 0);
  ASSERT_EQ(result_.verdict.problems.size(), 1U);
  EXPECT_EQ(result_.verdict.problems[0].what, Problem::What::kUnwritten);
  EXPECT_EQ(result_.verdict.problems[0].element, 3);
}

TEST_F(CompareRunsTest, ElementThatTheJudgeCountedIsNotCountedAgain) {
  KeepPoison(3);
  KeepPoison(4);
  codes().exact -= 2;
  ++codes().allowed;
  ++codes().unwritten;
  Compare();
  EXPECT_EQ(codes().allowed, 0);
  EXPECT_EQ(codes().unwritten, 2);
}

TEST_F(CompareRunsTest, MostTouchedBytesOfAnyRunCount) {
  std::int64_t free = written_.at("kv_cache").front().end;
  ASSERT_LT(free, written_.at("kv_cache").at(1).begin);
  runs_.second.after.at("kv_cache").bytes()[free] ^= 1;
  result_.verdict.touched = 1;
  Compare();
  EXPECT_EQ(result_.verdict.touched, 1);
  runs_.reordered = runs_.second;
  Tensor& cache = runs_.reordered->after.at("kv_cache");
  cache.bytes()[cache.size_bytes() - 1] ^= 1;
  Compare();
  EXPECT_EQ(result_.verdict.touched, 2);
}

}  // namespace
}  // namespace kvexact
