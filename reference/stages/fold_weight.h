// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/operations/inputs.h"

namespace kvexact {

// The folded weight (order of docs/numerics.md). `scale` is the FP8 scale; MXFP4 folds none.
float FoldWeight(const IndexerQInputs& in, float weight, float scale);

// Folded weight as stored: fp32 or bf16 bits, NaN canonical.
std::uint32_t StoredWeight(const IndexerQInputs& in, float weight);

}  // namespace kvexact
