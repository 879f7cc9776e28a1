// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/spec/layout.h"
#include "reference/stages/stored_token.h"

namespace kvexact {

// Writes codes, scales (with their zero pad) and RoPE values of one token to its slot; no other byte.
void PagedStore(const StoredToken& token, const spec::PagedCache& cache, std::int64_t slot, std::uint8_t* bytes);

}  // namespace kvexact
