// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/numerics/window.h"
#include "reference/stages/locate.h"

namespace kvexact {

// The window of a live token: rows at positions p - R + 1 .. p through the request's row of the block
// table; rows before position 0 are masked. With overlap the first `ratio` rows read head offset 0,
// the others head_dim; without, all read 0. Pointers into in.state_cache.
void Gather(const CompressInputs& in, const LiveToken& token, Window& window);

}  // namespace kvexact
