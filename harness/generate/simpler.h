// SPDX-License-Identifier: Apache-2.0
// Steps of shrinking: what to try in place of a spec whose case fails.
#pragma once

#include <vector>

#include "harness/generate/case_spec.h"

namespace kvexact {

// Usable specs of the same operation, boldest first: one request with a few tokens, fewer requests and tokens, earlier
// positions, then settings at their defaults or half way there, the configuration's last. None equals `spec`. A failure
// that depends on values may need others once the requests change, so the boldest come with several seeds.
std::vector<CaseSpec> SimplerSpecs(const CaseSpec& spec);

}  // namespace kvexact
