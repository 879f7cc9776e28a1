// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace kvexact {

enum class WeightsDtype : std::uint8_t { kFp32, kBf16 };

// Types of folded weights that a model's indexer asks for: fp32, and bf16 besides where sparse logits
// are on. Source: _indexer_weights_out_dtypes.
std::vector<WeightsDtype> IndexerWeightsDtypes(bool indexer_sparse_logits);

}  // namespace kvexact
