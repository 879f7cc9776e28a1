// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/generate/case_spec.h"
#include "harness/generate/counter_hash.h"

namespace kvexact::generate {

// Chooses `requests` (and `decode` of two_stage): prefills from 0, chunks that begin anywhere, decode
// batches, first windows, far positions, many requests, none. About size * 16 windows of ratio 4 at most.
void DrawRequests(std::int64_t size, Stream& stream, CaseSpec& spec);

}  // namespace kvexact::generate
