// SPDX-License-Identifier: Apache-2.0
// The compression operations on the CPU, written from the seed kernels. Outputs that no live token
// owns stay as they were. `threads` >= 1 is an upper bound; the result does not depend on it.
#pragma once

#include "reference/operations/inputs.h"

namespace kvexact::host {

// sparse_attn, indexer_fp8, indexer_mxfp4: one pass a token.
void SinglePass(const CompressInputs& in, const CompressOutputs& out, int threads);

// gather_split: compressed rows into out.scratch, the head in in.num_splits tiles.
void GatherSplit(const CompressInputs& in, const CompressOutputs& out, int threads);

// finalize: from in.scratch.
void Finalize(const CompressInputs& in, const CompressOutputs& out, int threads);

// two_stage: the first num_decode_tokens (clamped) in one pass, the others through a private scratch.
void TwoStage(const CompressInputs& in, const CompressOutputs& out, int threads);

}  // namespace kvexact::host
