// SPDX-License-Identifier: Apache-2.0
// Quantise and store into the paged KV cache.
#pragma once

#include <cstdint>

#include "reference/spec/layout.h"

namespace kvexact::host {

// First bytes of a token's three areas in the cache.
struct TokenArea {
  std::uint8_t* codes;
  std::uint8_t* rope;
  std::uint8_t* scales;
};

TokenArea AreaOf(const spec::PagedCache& cache, std::uint8_t* cache_bytes, std::int64_t slot);

// Quantises layout.code_values bf16-rounded values block by block; stores codes, scales and the zero
// bytes behind the scales.
void StoreQuantised(const float* values, const spec::Layout& layout, const TokenArea& area);

// Rounds to bf16 and stores.
void StoreRope(const float* values, std::int64_t n, const TokenArea& area);

}  // namespace kvexact::host
