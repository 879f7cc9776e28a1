// SPDX-License-Identifier: Apache-2.0
// Small cases built in code for the backend tests.
#pragma once

#include <cstdint>

#include "harness/case/case.h"

namespace kvexact {

// Elements of a tensor of that name, as T.
template <class T>
T* Elements(TensorMap& tensors, const char* name) {
  return tensors.at(name).as<T>();
}

// A compression case of `tokens` consecutive positions from 0 of one request. State blocks of 3 positions lie in
// reverse order with padded rows, pages of 2 tokens are padded and start behind 16 bytes, token t has KV slot
// tokens - 1 - t. Norm weights are 1, cosines 1, every other value and the output buffers 0.
Case CompressCase(spec::Operation op, std::int64_t tokens, std::int64_t ratio, bool overlap);

// A case of indexer_q_fp8 or indexer_q_mxfp4: positions 0, 1, ...; weights and cosines 1, all else 0.
Case IndexerQCase(spec::Operation op, std::int64_t tokens, std::int64_t heads, DType weights, DType weights_out);

// First KV value of a position in the state cache; its scores start state_width elements behind.
float* StateRow(Case& c, std::int64_t position);

// Every fp32 and bf16 input uniform in [-2, 2), scores in [-8, 8), output buffers random bytes. The same on every
// machine for a seed.
void FillRandom(Case& c, std::uint64_t seed);

// Runs the host backend on a checked case; fails the test unless it ends well.
TensorMap RunHost(const Case& c, int threads = 1);

}  // namespace kvexact
