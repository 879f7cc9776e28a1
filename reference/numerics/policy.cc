// SPDX-License-Identifier: Apache-2.0
#include "reference/numerics/policy.h"

namespace kvexact {
namespace {

constexpr Policy kPolicies[] = {
    {.name = "seed", .summary = "every value as the seed kernels store it, NaN, infinities and overflow included"},
    {.name = "poisoned",
     .summary = "as seed, but tokens with NaN, infinity or overflow may store anything",
     .nonfinite = NonFiniteRule::kUnjudged},
};

}  // namespace

std::span<const Policy> Policies() { return kPolicies; }

const Policy* FindPolicy(std::string_view name) {
  for (const Policy& policy : kPolicies) {
    if (name == policy.name) return &policy;
  }
  return nullptr;
}

const Policy& SeedPolicy() { return kPolicies[0]; }

}  // namespace kvexact
