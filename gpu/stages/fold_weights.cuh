// SPDX-License-Identifier: Apache-2.0
// The weights of the indexer's heads, and what is folded into them.
#pragma once

#include <cstdint>

#include "gpu/primitives/convert.cuh"
#include "gpu/primitives/memory.cuh"
#include "gpu/stages/indexer_q_arguments.cuh"

namespace kvexact::gpu {

__device__ inline RawFloat LoadWeight(const IndexerQArguments& arguments, std::int64_t token, std::int64_t head) {
  return LoadRawNow(arguments.weights, token * arguments.weights_stride + head, arguments.weights_bf16);
}

// Multiplies by the two scales, in this order, and stores; a NaN is stored in its canonical form.
__device__ inline void StoreFolded(const IndexerQArguments& arguments, std::int64_t token, std::int64_t head,
                                   float weight) {
  const float folded = __fmul_rn(__fmul_rn(weight, arguments.softmax_scale), arguments.head_scale);
  const std::int64_t index = token * arguments.heads + head;
  if (arguments.weights_out_bf16) {
    static_cast<std::uint16_t*>(arguments.weights_out)[index] = static_cast<std::uint16_t>(PackBf16(folded, 0.0F));
  } else {
    static_cast<float*>(arguments.weights_out)[index] = folded != folded ? __uint_as_float(0x7FFFFFFFU) : folded;
  }
}

}  // namespace kvexact::gpu
