// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/generate/case_spec.h"
#include "harness/generate/counter_hash.h"
#include "harness/generate/draw_requests.h"

namespace kvexact::generate {

// Chooses everything but the configuration of `spec`, which holds the defaults of its operation.
void DrawData(std::int64_t size, Launch launch, Stream& stream, CaseSpec& spec);

}  // namespace kvexact::generate
