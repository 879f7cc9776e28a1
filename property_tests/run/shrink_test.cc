// SPDX-License-Identifier: Apache-2.0
#include "harness/run/shrink.h"

#include <gtest/gtest.h>

#include "harness/generate/generate.h"
#include "harness/run/failure_kinds.h"
#include "harness/run/run_case.h"
#include "property_tests/run/planted_backend.h"

namespace kvexact {
namespace {

// Many tokens of many requests, and settings unlike the defaults.
constexpr char kLarge[] =
    "op=sparse_attn ratio=3 block=5 row_pad=7 page=3 seed=11 requests=0+20,5+9,2+1x6 order=shuffled skip_slots=10 "
    "garbage=skipped tail=4 blocks=shared values=heavy scores=wide unread=values";

Shrunk ShrinkLarge(Backend& subject, const ShrinkLimits& limits = {}) {
  const CaseSpec spec = ParseSpec(kLarge);
  const CaseResult failure = RunCase(subject, Generate(spec), {});
  EXPECT_FALSE(failure.right());
  return Shrink(subject, spec, failure, {}, limits);
}

TEST(Shrink, AFaultOfEveryTokenNeedsOneToken) {
  const auto subject = OpenBackend("fault:rope-sign");
  const Shrunk shrunk = ShrinkLarge(*subject);
  EXPECT_EQ(TokensOf(shrunk.spec), 1) << ToText(shrunk.spec);
  EXPECT_EQ(RequestsOf(shrunk.spec), 1);
  EXPECT_TRUE(shrunk.least);
  // Its line repeats it.
  const CaseSpec again = ParseSpec(ToText(shrunk.spec));
  EXPECT_EQ(again, shrunk.spec);
  EXPECT_FALSE(RunCase(*subject, Generate(again), {}).right());
  EXPECT_FALSE(shrunk.result.right());
}

TEST(Shrink, AFaultBetweenRequestsKeepsTwo) {
  const auto subject = OpenBackend("fault:gather-req-zero");
  const Shrunk shrunk = ShrinkLarge(*subject);
  EXPECT_EQ(RequestsOf(shrunk.spec), 2) << ToText(shrunk.spec);
  EXPECT_LE(TokensOf(shrunk.spec), 4) << ToText(shrunk.spec);
}

TEST(Shrink, AnotherKindOfFailureIsNotTakenForIt) {
  // An error on small launches, a wrong byte on large ones. The run with the tokens in two launches halves them.
  PlantedBackend subject([](const Case& c, const TensorMap&, TensorMap& outputs, int) {
    if (c.params.num_actual < 10) return RunOutcome{RunStatus::kError, "small"};
    outputs.begin()->second.bytes()[outputs.begin()->second.size_bytes() - 1] ^= 0x80;
    return RunOutcome{};
  });
  const Shrunk shrunk = ShrinkLarge(subject);
  EXPECT_EQ(TokensOf(shrunk.spec), 20) << ToText(shrunk.spec);
  EXPECT_EQ(shrunk.result.status, CaseStatus::kJudged);
}

TEST(Shrink, StopsAtItsLimits) {
  const auto subject = OpenBackend("fault:rope-sign");
  const Shrunk few = ShrinkLarge(*subject, {.trials = 1});
  EXPECT_EQ(few.trials, 1);
  EXPECT_FALSE(few.least);
  const Shrunk none = ShrinkLarge(*subject, {.deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(none.trials, 0);
  EXPECT_FALSE(none.least);
  EXPECT_EQ(ToText(none.spec), kLarge);
}

TEST(FailureKinds, TellWaysToFailApart) {
  CaseResult result;
  EXPECT_TRUE(KindsOf(result).none());
  result.verdict.touched = 1;
  EXPECT_EQ(KindsOf(result).count(), 1U);
  result.verdict.tally(ElementKind::kScale).wrong = 2;
  EXPECT_EQ(KindsOf(result).count(), 2U);
  result.status = CaseStatus::kCrashed;
  EXPECT_EQ(KindsOf(result).count(), 1U);
  result.status = CaseStatus::kUnsupported;
  EXPECT_TRUE(KindsOf(result).none());
}

}  // namespace
}  // namespace kvexact
