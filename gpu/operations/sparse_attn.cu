// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/launch.h"
#include "gpu/operations/sparse_attn_ratio128.cuh"
#include "gpu/operations/sparse_attn_ratio4.cuh"

namespace kvexact::gpu {
namespace {

constexpr int kResident = 4;  // blocks a multiprocessor, by registers

template <int kBlocks, bool kFew>
cudaError_t LaunchRatio128(const CompressArguments& arguments, cudaStream_t stream) {
  const auto kernel = SparseAttnRatio128<Strict, kBlocks, kFew>;
  if (const cudaError_t e =
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kRatio128StagedBytes);
      e != cudaSuccess) {
    return e;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(arguments.token_step * kBlocks));
  config.blockDim = dim3(kRatio128Threads);
  config.dynamicSmemBytes = kRatio128StagedBytes;
  config.stream = stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = kBlocks;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  if (kBlocks > 1) {
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, arguments);
}

}  // namespace

cudaError_t LaunchSparseRatio4(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  const std::int64_t resident = std::int64_t{kResident} * machine.multiprocessors;
  if (arguments.tokens <= 2 * resident) {
    SparseAttnRatio4Few<Strict><<<static_cast<unsigned>(arguments.tokens), kSparseThreads, 0, stream>>>(arguments);
  } else {
    DealOut(resident, arguments);
    SparseAttnRatio4<Strict><<<static_cast<unsigned>(arguments.token_step), kSparseThreads, 0, stream>>>(arguments);
  }
  return cudaGetLastError();
}

cudaError_t LaunchSparseRatio128(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  const std::int64_t resident = std::int64_t{kResident} * machine.multiprocessors;
  constexpr int kBlocks = 8;
  const std::int64_t clusters = resident / kBlocks;
  // A cluster a token while tokens, or those among them that end a window of a prefill, are few.
  if (machine.compute_major >= 9 && arguments.tokens <= 2 * clusters) {
    DealOut(2 * clusters, arguments);
    return LaunchRatio128<kBlocks, true>(arguments, stream);
  }
  const std::int64_t windows = arguments.tokens / Ratio128::kRatio;
  if (machine.compute_major >= 9 && arguments.tokens > resident && windows <= clusters) {
    DealOut(clusters, arguments);
    return LaunchRatio128<kBlocks, false>(arguments, stream);
  }
  DealOut(resident, arguments);
  return LaunchRatio128<1, false>(arguments, stream);
}

}  // namespace kvexact::gpu
