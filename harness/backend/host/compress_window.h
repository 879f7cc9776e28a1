// SPDX-License-Identifier: Apache-2.0
// Gather and softmax over a token's window.
#pragma once

#include <cstdint>

#include "reference/operations/inputs.h"

namespace kvexact::host {

// True where `token` reaches a window boundary: its state slot is not negative and (position + 1) is a
// multiple of the ratio. Reads the position only if the slot is not negative.
bool AtBoundary(const CompressInputs& in, std::int64_t token);

// out[0..end - begin) = the softmax-weighted mean, a column, of columns [begin, end) of the window that
// ends at the token's position: weights normalised first, rows added in ascending order, fp32 throughout.
// Rows before position 0 have weight 0 and are not read. The token must be at a boundary.
void CompressWindow(const CompressInputs& in, std::int64_t token, std::int64_t begin, std::int64_t end, float* out);

}  // namespace kvexact::host
