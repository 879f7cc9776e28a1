// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/simpler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "property_tests/generate/any_spec.h"

namespace kvexact {
namespace {

TEST(SimplerSpecs, AreUsableSpecsOfTheSameOperationAndNoneIsTheSpecItself) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const CaseSpec spec = test::AnySpec(seed);
    for (const CaseSpec& simpler : SimplerSpecs(spec)) {
      ASSERT_NO_THROW(Check(simpler)) << ToText(simpler);
      EXPECT_EQ(simpler.config.op, spec.config.op);
      EXPECT_NE(simpler, spec) << ToText(spec);
      EXPECT_LE(TokensOf(simpler), std::max<std::int64_t>(TokensOf(spec), 4)) << ToText(spec) << '\n'
                                                                              << ToText(simpler);
      ++tried;
    }
  }
  EXPECT_GT(tried, 1000U);
}

TEST(SimplerSpecs, BeginWithOneToken) {
  const std::vector<CaseSpec> simpler = SimplerSpecs(ParseSpec("op=indexer_fp8 requests=0+9,4+12x3"));
  ASSERT_FALSE(simpler.empty());
  EXPECT_EQ(TokensOf(simpler.front()), 1);
}

TEST(SimplerSpecs, ThereIsNoneOfTheFirstTokenOfADefaultCase) {
  CaseSpec least = DefaultSpec(spec::Operation::kIndexerQFp8);
  least.config.heads = 1;
  least.requests = {{0, 1, 1}};
  for (const CaseSpec& simpler : SimplerSpecs(least)) EXPECT_EQ(simpler.config.heads, 8) << ToText(simpler);
}

}  // namespace
}  // namespace kvexact
