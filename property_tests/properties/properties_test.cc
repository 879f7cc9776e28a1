// SPDX-License-Identifier: Apache-2.0
// What every implementation must satisfy, each property a sentence, on every backend of this machine.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "harness/generate/generate.h"
#include "property_tests/properties/changes.h"
#include "property_tests/properties/outcome.h"
#include "property_tests/properties/spec_gen.h"

namespace kvexact::properties {
namespace {

using generate::Stream;

class EveryBackend : public testing::TestWithParam<std::string> {
 protected:
  EveryBackend() : backend_(OpenBackend(GetParam())) {}

  // For all specs of `specs`: other(case, random) is as good as what one run stores.
  void Holds(const rc::Gen<CaseSpec>& specs, const std::function<TensorMap(const Case&, Stream&)>& other) {
    EXPECT_TRUE(rc::check([&] {
      const CaseSpec spec = *specs;
      const Case c = Generate(spec);
      Stream random(generate::StreamKey(spec.seed, {7}));
      ExpectSame(*backend_, c, other(c, random));
    }));
  }

  std::unique_ptr<Backend> backend_;
};

TEST_P(EveryBackend, PermutingTheTokensOfALaunchChangesNothing) {
  Holds(Specs(AllOperations()),
        [&](const Case& c, Stream& random) { return OutcomeOf(*backend_, c, {PermutedTokens(c, random)}); });
}

TEST_P(EveryBackend, SplittingABatchAtAnyPointChangesNothing) {
  Holds(Specs(AllOperations()), [&](const Case& c, Stream& random) {
    return OutcomeOf(*backend_, c, SplitAt(c, random.Below(c.params.num_actual + 1)));
  });
}

TEST_P(EveryBackend, DecodingStepByStepEqualsPrefillAtOnce) {
  const auto few = [](CaseSpec& spec) { return TokensOf(spec) <= 40; };
  Holds(Specs(AllOperations(), few), [&](const Case& c, Stream&) { return OutcomeOf(*backend_, c, TokenByToken(c)); });
}

TEST_P(EveryBackend, SkippedTokensAmongTheOthersChangeNothing) {
  std::vector<spec::Operation> operations = StateOperations();
  operations.push_back(spec::Operation::kFinalize);
  Holds(Specs(operations),
        [&](const Case& c, Stream& random) { return OutcomeOf(*backend_, c, {WithSkippedTokens(c, random)}); });
}

TEST_P(EveryBackend, RenamingThePhysicalBlocksChangesNothing) {
  Holds(Specs(StateOperations()),
        [&](const Case& c, Stream& random) { return OutcomeOf(*backend_, RenamedBlocks(c, random)); });
}

TEST_P(EveryBackend, MovingTheKvSlotsMovesWhatIsStored) {
  Holds(Specs(StoreOperations()), [&](const Case& c, Stream& random) {
    const MovedSlots moved = MoveSlots(c, random);
    return MovedBack(c, moved, OutcomeOf(*backend_, moved.c));
  });
}

TEST_P(EveryBackend, TwoStagesEqualTheSinglePassAtAnyDecodeCount) {
  Holds(Specs({spec::Operation::kTwoStage}), [&](const Case& c, Stream& random) {
    Case other = c;
    if (random.OneIn(3)) {
      other.op = spec::Operation::kSparseAttn;
      other.params.num_decode_tokens = 0;
    } else {
      other.params.num_decode_tokens = random.Between(-2, c.params.num_actual + 2);
    }
    return OutcomeOf(*backend_, other);
  });
}

TEST_P(EveryBackend, WhatMayNotBeReadChangesNothing) {
  EXPECT_TRUE(rc::check([&] {
    CaseSpec spec = *Specs(AllOperations());
    const Case c = Generate(spec);
    spec.unread = *rc::gen::element(generate::Unread::kNan, generate::Unread::kInf, generate::Unread::kValues);
    ExpectSame(*backend_, c, OutcomeOf(*backend_, Generate(spec)));
  }));
}

TEST_P(EveryBackend, RunningTwiceStoresTheSameTwice) {
  Holds(Specs(AllOperations()), [&](const Case& c, Stream&) {
    TensorMap again = c.outputs_before;
    RC_ASSERT(backend_->Run(c, again).status == RunStatus::kOk);
    // Over what the first run left.
    RC_ASSERT(backend_->Run(c, again).status == RunStatus::kOk);
    return again;
  });
}

TEST_P(EveryBackend, ShiftingAllScoresOfAColumnChangesNothing) {
  // Integers, so that differences of scores stay what they are.
  const auto integers = [](CaseSpec& spec) {
    spec.scores = generate::ScoreKind::kTies;
    spec.special = generate::Special::kNone;
    return true;
  };
  Holds(Specs(StateOperations(), integers),
        [&](const Case& c, Stream& random) { return OutcomeOf(*backend_, ShiftedScores(c, random)); });
}

TEST_P(EveryBackend, ScalingByAPowerOfTwoIsUndoneByTheNormAndByTheScales) {
  // Values far from where anything overflows, underflows or meets the floor.
  const auto moderate = [](CaseSpec& spec) {
    spec.values = generate::ValueKind::kNormal;
    spec.special = generate::Special::kNone;
    spec.scores = spec::row(spec.config.op).reads_state ? generate::ScoreKind::kNormal : spec.scores;
    spec.unread = generate::Unread::kValues;
    return true;
  };
  Holds(Specs(AllOperations(), moderate), [&](const Case& c, Stream& random) {
    const auto k = static_cast<int>(random.Between(1, 6));
    return ScaledBack(c, k, OutcomeOf(*backend_, Scaled(c, k)));
  });
}

INSTANTIATE_TEST_SUITE_P(On, EveryBackend, testing::ValuesIn(BackendsPresent()), BackendName);

}  // namespace
}  // namespace kvexact::properties
