// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "reference/spec/layout.h"
#include "reference/stages/stored_token.h"

namespace kvexact {

struct Stages;

// Two nibbles a byte, the first of a pair in the low half. An even number of nibbles.
void PackPairs(std::span<const std::uint8_t> nibbles, std::uint8_t* bytes);

// Writes codes, scales (with their zero pad) and RoPE values of one token to its slot; no other byte.
void PagedStore(const Stages& stages, const StoredToken& token, const spec::PagedCache& cache, std::int64_t slot,
                std::uint8_t* bytes);

}  // namespace kvexact
