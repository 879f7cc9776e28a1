// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/operations/inputs.h"

namespace kvexact::host {

// indexer_q_fp8 (in.codes E4M3FN or E4M3FNUZ) and indexer_q_mxfp4 (E2M1) on the CPU, for tokens
// [0, in.num_actual); the outputs of later tokens stay as they were.
void IndexerQ(const IndexerQInputs& in, const IndexerQOutputs& out, int threads);

}  // namespace kvexact::host
