// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/indexer_q.h"

namespace kvexact {

void IndexerQ(const Stages& stages, const Policy& policy, const IndexerQInputs& in, const IndexerQOutputs& out) {
  RunIndexerQ(stages, policy, Strict(), in, out);
}

}  // namespace kvexact
