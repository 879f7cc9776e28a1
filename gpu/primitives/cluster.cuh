// SPDX-License-Identifier: Apache-2.0
// Clusters of thread blocks (sm_90). On earlier targets the functions are empty: no kernel that uses them is launched
// there.
#pragma once

#include <cstdint>

namespace kvexact::gpu {

// All threads of all blocks of the cluster: what was written before Arrive is seen after Wait.
__device__ inline void ClusterArrive() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#endif
}

__device__ inline void ClusterWait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Stores to the same variable of another block's shared memory.
__device__ inline void StoreCluster(float* own, int rank, float value) {
#if __CUDA_ARCH__ >= 900
  const auto address = static_cast<unsigned>(__cvta_generic_to_shared(own));
  asm volatile(
      "{\n.reg .b32 a;\nmapa.shared::cluster.u32 a, %0, %1;\nst.shared::cluster.f32 [a], %2;\n}" ::"r"(address),
      "r"(rank), "f"(value)
      : "memory");
#else
  (void)own, (void)rank, (void)value;
#endif
}

}  // namespace kvexact::gpu
