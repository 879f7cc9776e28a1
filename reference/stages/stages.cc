// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/stages.h"

namespace kvexact {
namespace {

template <class A>
constexpr ArithmeticStages<A> SeedArithmeticStages() {
  return {&WeightedMean<A>, &RmsNorm<A>, &Rope<A>};
}

constexpr Stages kSeedStages{
    .launch = &LaunchAsGiven,
    .launch_q = &LaunchQAsGiven,
    .plan = &PlanTwoStage,
    .locate = &Locate,
    .locate_finalize = &Locate,
    .gather = &Gather,
    .angles = &Angles,
    .strict = SeedArithmeticStages<Strict>(),
    .enclosure = SeedArithmeticStages<Enclosure>(),
    .quantise_input = &RoundInputToBf16,
    .absmax = &BlockAbsmax,
    .exponent = &BlockExponent,
    .encode = &EncodeBlock,
    .stored_scale = &StoredScale,
    .quantise = &QuantiseBlocks,
    .round_rope = &RoundRopeToBf16,
    .round_q_head = &RoundQHeadValues,
    .fold_weight = &FoldWeight,
    .stored_weight = &StoredWeight,
    .pack = &PackPairs,
    .store = &PagedStore,
    .store_q_head = &StoreQHead,
};

}  // namespace

const Stages& SeedStages() { return kSeedStages; }

}  // namespace kvexact
