// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/compress_any.cuh"
#include "gpu/operations/enqueue.h"
#include "gpu/operations/launch.h"

namespace kvexact::gpu {

cudaError_t LaunchCompressAny(CompressArguments arguments, int head, const Machine& machine, cudaStream_t stream) {
  DealOut(std::int64_t{4} * machine.multiprocessors, arguments);
  const auto kernel = head == kSparseHead ? CompressAny<Strict, kSparseHead> : CompressAny<Strict, kIndexerHead>;
  return Enqueue(kernel, {arguments.token_step, kAnyThreads}, stream, arguments);
}

cudaError_t LaunchGatherSplit(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  DealOut(std::int64_t{4} * machine.multiprocessors, arguments);
  const std::int64_t blocks = arguments.token_step * (kSparseHead / spec::kHeadGroup);
  return Enqueue(GatherSplitAny<Strict>, {blocks, kAnyThreads}, stream, arguments);
}

cudaError_t LaunchFinalize(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  DealOut(std::int64_t{16} * machine.multiprocessors, arguments);
  return Enqueue(Finalize<Strict>, {arguments.token_step, kFinalizeThreads}, stream, arguments);
}

}  // namespace kvexact::gpu
