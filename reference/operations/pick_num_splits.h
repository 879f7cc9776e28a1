// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvexact {

// Splits over the head for gather_split: the largest power of two that divides head_dim, leaves tiles of
// 32 columns or more, and does not exceed ceil(compute_units / max(1, num_actual / ratio)).
// num_actual >= 0, ratio >= 1, head_dim >= 1, compute_units >= 0; throws std::invalid_argument otherwise.
// Source: _pick_compress_num_splits.
std::int64_t PickNumSplits(std::int64_t num_actual, std::int64_t ratio, std::int64_t head_dim,
                           std::int64_t compute_units);

}  // namespace kvexact
