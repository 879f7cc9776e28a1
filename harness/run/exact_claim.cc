// SPDX-License-Identifier: Apache-2.0
#include "harness/run/exact_claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/run/element_sites.h"

namespace kvexact {

void HoldToExactClaim(const Case& c, const Stages& stages, const TensorMap& strict, const TensorMap& after,
                      CaseResult& result) {
  CaseVerdict& verdict = result.verdict;
  if (verdict.total().allowed == 0) return;
  for (Tally& tally : verdict.tallies) {
    tally.wrong += tally.allowed;
    tally.allowed = 0;
  }
  const auto known = [&, judged = verdict.problems](const ElementSite& site) {
    return std::any_of(judged.begin(), judged.end(), [&](const Problem& p) {
      return p.token == site.token && p.head == site.head && p.kind == site.kind && p.element == site.element;
    });
  };
  ForEachElement(c, stages, [&](const ElementSite& site) {
    if (verdict.problems.size() >= CaseVerdict::kMaxProblems) return;
    const std::uint32_t expected = site.Load(strict);
    const std::uint32_t observed = site.Load(after);
    const bool open = std::binary_search(verdict.open.begin(), verdict.open.end(), OpenToken{site.token, site.head});
    if (open || SameValue(site, expected, observed) || known(site)) return;
    Problem problem = ProblemAt(site, Problem::What::kWrong);
    problem.observed = site.Text(observed);
    problem.expected = site.Text(expected);
    problem.allowed = "the model's value alone, since the subject claims to equal it";
    verdict.problems.push_back(std::move(problem));
  });
}

}  // namespace kvexact
