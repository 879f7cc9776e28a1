// SPDX-License-Identifier: Apache-2.0
// Which kernel of the indexer operations' production shape serves how many tokens.
#pragma once

#include "gpu/operations/enqueue.h"
#include "gpu/operations/indexer_ratio4.cuh"
#include "gpu/operations/launch.h"

namespace kvexact::gpu {

inline constexpr int kIndexerResident = 4;  // blocks a multiprocessor, by registers
inline constexpr int kIndexerWarps = kIndexerThreads / 32;

inline Grid ForWarps(std::int64_t warps) { return {(warps + kIndexerWarps - 1) / kIndexerWarps, kIndexerThreads}; }

template <class Arithmetic, bool kMxfp4>
cudaError_t LaunchIndexerFormat(CompressArguments& arguments, std::int64_t resident, cudaStream_t stream) {
  if (arguments.tokens <= resident) {
    return Enqueue(IndexerRatio4Few<Arithmetic, kMxfp4>, ForWarps(arguments.tokens), stream, arguments);
  }
  DealOut(resident, arguments);
  return Enqueue(IndexerRatio4<Arithmetic, kMxfp4>, ForWarps(arguments.token_step), stream, arguments);
}

template <class Arithmetic>
cudaError_t LaunchIndexerRatio4With(CompressArguments arguments, bool mxfp4, const Machine& machine,
                                    cudaStream_t stream) {
  const std::int64_t resident = std::int64_t{kIndexerResident} * kIndexerWarps * machine.multiprocessors;
  return mxfp4 ? LaunchIndexerFormat<Arithmetic, true>(arguments, resident, stream)
               : LaunchIndexerFormat<Arithmetic, false>(arguments, resident, stream);
}

}  // namespace kvexact::gpu
