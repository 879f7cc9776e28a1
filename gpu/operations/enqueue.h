// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace kvexact::gpu {

// Where a kernel runs: blocks, threads a block, dynamic shared memory, blocks a cluster.
struct Grid {
  std::int64_t blocks = 1;
  int threads = 32;
  int shared_bytes = 0;
  int cluster = 1;
};

// What became of this launch alone, whatever error an earlier call left behind.
template <class Arguments>
cudaError_t Enqueue(void (*kernel)(Arguments), const Grid& grid, cudaStream_t stream, const Arguments& arguments) {
  if (grid.blocks < 1 || grid.blocks > 0x7FFFFFFF) return cudaErrorInvalidConfiguration;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(grid.blocks));
  config.blockDim = dim3(static_cast<unsigned>(grid.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(grid.shared_bytes);
  config.stream = stream;
  cudaLaunchAttribute cluster{};
  if (grid.cluster > 1) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = static_cast<unsigned>(grid.cluster);
    cluster.val.clusterDim.y = 1;
    cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  Arguments copy = arguments;
  void* pointers[] = {&copy};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers);
}

}  // namespace kvexact::gpu
