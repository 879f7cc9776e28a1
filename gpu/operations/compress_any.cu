// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/compress_any.cuh"
#include "gpu/operations/launch.h"

namespace kvexact::gpu {

cudaError_t LaunchCompressAny(CompressArguments arguments, int head, const Machine& machine, cudaStream_t stream) {
  DealOut(std::int64_t{4} * machine.multiprocessors, arguments);
  const auto grid = static_cast<unsigned>(arguments.token_step);
  if (head == kSparseHead) {
    CompressAny<Strict, kSparseHead><<<grid, kAnyThreads, 0, stream>>>(arguments);
  } else {
    CompressAny<Strict, kIndexerHead><<<grid, kAnyThreads, 0, stream>>>(arguments);
  }
  return cudaGetLastError();
}

cudaError_t LaunchGatherSplit(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  DealOut(std::int64_t{4} * machine.multiprocessors, arguments);
  const auto grid = static_cast<unsigned>(arguments.token_step * (kSparseHead / spec::kHeadGroup));
  GatherSplitAny<Strict><<<grid, kAnyThreads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

cudaError_t LaunchFinalize(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  DealOut(std::int64_t{16} * machine.multiprocessors, arguments);
  Finalize<Strict><<<static_cast<unsigned>(arguments.token_step), kFinalizeThreads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

}  // namespace kvexact::gpu
