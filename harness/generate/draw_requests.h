// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "harness/generate/case_spec.h"
#include "harness/generate/counter_hash.h"

namespace kvexact::generate {

// How many tokens a launch has: a few; many that are live; very many of which most are not, or many rows of Q.
enum class Launch { kUsual, kLarge, kCrowd };

// Chooses `requests` (and `decode` of two_stage): prefills from 0, chunks that begin anywhere, decode
// batches, first windows, far positions, many requests, none. A usual launch has about size * 16 windows of ratio 4 at
// most.
void DrawRequests(std::int64_t size, Launch launch, Stream& stream, CaseSpec& spec);

}  // namespace kvexact::generate
