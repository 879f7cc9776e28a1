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

// The same where nothing was written that is to be seen after Wait: without the fences of a release.
__device__ inline void ClusterArriveRelaxed() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
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

// A barrier in shared memory that is passed once so many bytes have arrived from the cluster's blocks. Used once.
// Begin: one thread of the receiving block, before it arrives (relaxed) at a barrier of the cluster.
struct Mailbox {
  std::uint64_t barrier;

  __device__ void Begin(int bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Address(&barrier)),
        "r"(bytes)
        : "memory");
#else
    (void)bytes;
#endif
  }

  // Stores a value to the variable `own` of block `rank`, and counts its four bytes at that block's mailbox.
  __device__ void Send(float* own, int rank, float value) {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n.reg .b32 a, b;\nmapa.shared::cluster.u32 a, %0, %2;\nmapa.shared::cluster.u32 b, %1, %2;\n"
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [a], %3, [b];\n}" ::"r"(Address(own)),
        "r"(Address(&barrier)), "r"(rank), "f"(value)
        : "memory");
#else
    (void)own, (void)rank, (void)value;
#endif
  }

  // What was sent is seen afterwards.
  __device__ void Wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@!p bra "
        "again;\n}" ::"r"(Address(&barrier))
        : "memory");
#endif
  }

 private:
  __device__ static unsigned Address(const void* shared) {
    return static_cast<unsigned>(__cvta_generic_to_shared(shared));
  }
};

}  // namespace kvexact::gpu
