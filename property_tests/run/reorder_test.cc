// SPDX-License-Identifier: Apache-2.0
#include "harness/run/reorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "harness/backend/backend.h"
#include "harness/generate/generate.h"
#include "property_tests/run/small_specs.h"

namespace kvexact {
namespace {

class ReorderTest : public testing::TestWithParam<SmallSpec> {
 protected:
  const Case case_ = SmallCase(GetParam());
};

TEST_P(ReorderTest, EveryTokenIsInOneLaunch) {
  std::vector<std::int64_t> tokens;
  std::int64_t live = 0;
  for (const PartialLaunch& launch : Reordered(case_, 7)) {
    tokens.insert(tokens.end(), launch.tokens.begin(), launch.tokens.end());
    live += launch.part.params.num_actual;
    EXPECT_GT(launch.part.params.num_actual, 0);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(launch.tokens.size()); ++i) {
      EXPECT_EQ(launch.tokens[static_cast<std::size_t>(i)] < case_.params.num_actual,
                i < launch.part.params.num_actual);
    }
  }
  EXPECT_EQ(live, case_.params.num_actual);
  std::sort(tokens.begin(), tokens.end());
  std::vector<std::int64_t> all(static_cast<std::size_t>(case_.inputs.at("positions").dim(0)));
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(tokens, all);
}

TEST_P(ReorderTest, PartsPassTheChecks) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const PartialLaunch& launch : Reordered(case_, seed)) EXPECT_NO_THROW(Check(launch.part));
  }
}

TEST_P(ReorderTest, PartsTogetherStoreWhatTheWholeStores) {
  const std::unique_ptr<Backend> reference = MakeReferenceBackend();
  TensorMap whole = case_.outputs_before;
  reference->Run(case_, whole);
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    TensorMap parts = case_.outputs_before;
    for (const PartialLaunch& launch : Reordered(case_, seed)) {
      TensorMap part = TakeOutputs(launch, parts);
      reference->Run(launch.part, part);
      PutBack(launch, std::move(part), parts);
    }
    EXPECT_EQ(parts, whole);
  }
}

TEST_P(ReorderTest, SeedsGiveDifferentOrders) {
  const auto order = [&](std::uint64_t seed) { return Reordered(case_, seed).front().tokens; };
  EXPECT_EQ(order(1), order(1));
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 10; ++seed) differs |= order(seed) != order(1);
  EXPECT_TRUE(differs);
}

TEST_P(ReorderTest, RowsThatAreTakenOutGoBackWhereTheyWere) {
  for (const PartialLaunch& launch : Reordered(case_, 3)) {
    TensorMap whole = case_.outputs_before;
    PutBack(launch, TakeOutputs(launch, whole), whole);
    EXPECT_EQ(whole, case_.outputs_before);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, ReorderTest, testing::ValuesIn(SmallSpecs()),
                         [](const auto& spec) { return std::string(spec.param.name); });

TEST(Reorder, TwoStageKeepsDecodeTokensInFront) {
  for (const int decode : {-3, 0, 1, 2, 5, 10, 11, 99}) {
    const Case c = Generate(ParseSpec("op=two_stage ratio=1 requests=0+11 decode=" + std::to_string(decode)));
    const std::int64_t clamped = std::clamp<std::int64_t>(decode, 0, 11);
    std::int64_t in_decode = 0;
    for (const PartialLaunch& launch : Reordered(c, 1)) {
      const std::int64_t part = launch.part.params.num_decode_tokens;
      in_decode += part;
      for (std::int64_t i = 0; i < launch.part.params.num_actual; ++i) {
        EXPECT_EQ(launch.tokens[static_cast<std::size_t>(i)] < clamped, i < part) << "decode " << decode;
      }
    }
    EXPECT_EQ(in_decode, clamped);
  }
}

TEST(Reorder, FewerThanTwoTokensHaveNoOtherOrder) {
  EXPECT_TRUE(Reordered(Generate(ParseSpec("op=finalize ratio=1 requests=0+1 tail=3")), 1).empty());
}

}  // namespace
}  // namespace kvexact
