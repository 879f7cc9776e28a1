// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/stages.h"

namespace kvexact {
namespace {

template <class A>
constexpr ArithmeticStages<A> SeedArithmeticStages() {
  return {&WeightedMean<A>, &RmsNorm<A>, &Rope<A>};
}

constexpr Stages kSeedStages{
    &Locate,        &Gather,        SeedArithmeticStages<Strict>(), SeedArithmeticStages<Enclosure>(),
    &BlockAbsmax,   &BlockExponent, &EncodeBlock,                   &PagedStore,
};

}  // namespace

const Stages& SeedStages() { return kSeedStages; }

}  // namespace kvexact
