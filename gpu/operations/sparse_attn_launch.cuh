// SPDX-License-Identifier: Apache-2.0
// Which kernel of sparse_attn's production shapes serves how many tokens.
#pragma once

#include <algorithm>

#include "gpu/operations/enqueue.h"
#include "gpu/operations/launch.h"
#include "gpu/operations/sparse_attn_ratio128.cuh"
#include "gpu/operations/sparse_attn_ratio128_few.cuh"
#include "gpu/operations/sparse_attn_ratio4.cuh"

namespace kvexact::gpu {

inline constexpr int kSparseResident = 4;  // blocks a multiprocessor, by registers

template <class Arithmetic, int kBlocks>
cudaError_t LaunchRatio128(const CompressArguments& arguments, cudaStream_t stream) {
  const auto kernel = SparseAttnRatio128<Arithmetic, kBlocks>;
  if (const cudaError_t e =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRatio128StagedBytes);
      e != cudaSuccess) {
    return e;
  }
  const Grid grid{arguments.token_step * kBlocks, kRatio128Threads, kRatio128StagedBytes, kBlocks};
  return Enqueue(kernel, grid, stream, arguments);
}

template <class Arithmetic, int kBlocks>
cudaError_t LaunchRatio128Few(const CompressArguments& arguments, cudaStream_t stream) {
  const auto kernel = SparseAttnRatio128Few<Arithmetic, kBlocks>;
  if constexpr (kBlocks > 8) {
    if (const cudaError_t e = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        e != cudaSuccess) {
      return e;
    }
  }
  return Enqueue(kernel, {arguments.tokens * kBlocks, Ratio128Cluster<kBlocks>::kThreads, 0, kBlocks}, stream,
                 arguments);
}

template <class Arithmetic>
cudaError_t LaunchSparseRatio4With(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  const std::int64_t resident = std::int64_t{kSparseResident} * machine.multiprocessors;
  if (arguments.tokens <= 2 * resident) {
    // One block a multiprocessor: nothing to hide the weights behind.
    const auto kernel = arguments.tokens <= machine.multiprocessors ? SparseAttnRatio4Few<Arithmetic, false>
                                                                    : SparseAttnRatio4Few<Arithmetic, true>;
    return Enqueue(kernel, {arguments.tokens, kSparseThreads}, stream, arguments);
  }
  DealOut(resident, arguments);
  return Enqueue(SparseAttnRatio4<Arithmetic>, {arguments.token_step, kSparseThreads}, stream, arguments);
}

template <class Arithmetic>
cudaError_t LaunchSparseRatio128With(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  const std::int64_t resident = std::int64_t{kSparseResident} * machine.multiprocessors;
  constexpr int kBlocks = 8;
  const std::int64_t clusters = std::max<std::int64_t>(1, resident / kBlocks);
  // A cluster a token while tokens, or those among them that end a window of a prefill, are few. Clusters of 16 are
  // there on the whole GPUs of compute capability 9 and 10.
  if (machine.compute_major >= 9 && arguments.tokens <= 2 * clusters) {
    const bool whole = machine.compute_major <= 10 && machine.multiprocessors >= 100;
    return whole && arguments.tokens * 16 <= resident ? LaunchRatio128Few<Arithmetic, 16>(arguments, stream)
                                                      : LaunchRatio128Few<Arithmetic, 8>(arguments, stream);
  }
  const std::int64_t windows = arguments.tokens / Ratio128::kRatio;
  if (machine.compute_major >= 9 && arguments.tokens > resident && windows <= clusters) {
    DealOut(clusters, arguments);
    return LaunchRatio128<Arithmetic, kBlocks>(arguments, stream);
  }
  DealOut(resident, arguments);
  return LaunchRatio128<Arithmetic, 1>(arguments, stream);
}

}  // namespace kvexact::gpu
