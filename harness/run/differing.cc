// SPDX-License-Identifier: Apache-2.0
#include "harness/run/differing.h"

#include <algorithm>

#include "harness/run/element_sites.h"

namespace kvexact {
namespace {

bool BothZero(const ElementSite& site, std::uint32_t a, std::uint32_t b) {
  if (site.kind == ElementKind::kScale) return false;
  const int bits = site.shift < 0 ? 8 * site.bytes : 4;
  const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
  return ((a | b) & ~sign) == 0;
}

}  // namespace

void CountDiffering(const Case& c, const Stages& stages, const TensorMap& strict, const TensorMap& after,
                    CaseResult& result) {
  result.differing = {};
  const Tally total = result.verdict.total();
  if (total.exact + total.unjudged == total.elements()) return;
  const std::vector<OpenToken>& open = result.verdict.open;
  ForEachElement(c, stages, [&](const ElementSite& site) {
    const std::uint32_t expected = site.Load(strict);
    const std::uint32_t observed = site.Load(after);
    if (SameValue(site, expected, observed) || BothZero(site, expected, observed)) return;
    if (std::binary_search(open.begin(), open.end(), OpenToken{site.token, site.head})) return;
    ++result.differing[static_cast<std::size_t>(site.kind)];
  });
}

}  // namespace kvexact
