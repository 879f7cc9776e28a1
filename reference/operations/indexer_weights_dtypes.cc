// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/indexer_weights_dtypes.h"

namespace kvexact {

std::vector<WeightsDtype> IndexerWeightsDtypes(bool indexer_sparse_logits) {
  if (indexer_sparse_logits) return {WeightsDtype::kFp32, WeightsDtype::kBf16};
  return {WeightsDtype::kFp32};
}

}  // namespace kvexact
