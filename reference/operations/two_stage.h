// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/operations/compress_token.h"

namespace kvexact {

// Tokens [0, d) in one pass, tokens [d, num_actual) through gather_split and finalize, with
// d = clamp(num_decode_tokens, 0, num_actual). Scratch is private.
// Source: compress_norm_rope_store_two_stage_triton.
void TwoStage(const Stages& stages, const Policy& policy, const CompressInputs& in, const CompressOutputs& out);

}  // namespace kvexact
