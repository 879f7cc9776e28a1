// SPDX-License-Identifier: Apache-2.0
// Small cases whose values sit where fp32 arithmetic is weakest: subnormals, cancellation, scores that
// spread over +-1000 or straddle the end of the exponential's range, sums of squares around 2^128, ties,
// extreme norm weights and eps, now and then a NaN or infinity. Pure functions of the seed.
#pragma once

#include <cstdint>

#include "harness/case/case.h"

namespace kvexact::oracle {

// sparse_attn, indexer_fp8, indexer_mxfp4, gather_split, finalize or two_stage; ratios 1 to 256; a few
// live tokens and some skipped ones whose metadata is garbage.
Case HostileCompressCase(std::uint64_t seed);

// indexer_q_fp8 (fn and fnuz) or indexer_q_mxfp4.
Case HostileQCase(std::uint64_t seed);

// Unit normal scores and KV, ordinary weights and eps: what a trained model produces. `ratio` rows a
// window, with overlap twice as many.
Case PlainCase(std::uint64_t seed, spec::Operation op, int ratio, bool overlap, int tokens);

}  // namespace kvexact::oracle
