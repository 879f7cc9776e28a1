// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/sparse_attn_launch.cuh"

namespace kvexact::gpu {

cudaError_t LaunchSparseRatio4(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  return LaunchSparseRatio4With<Strict>(arguments, machine, stream);
}

cudaError_t LaunchSparseRatio128(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  return LaunchSparseRatio128With<Strict>(arguments, machine, stream);
}

}  // namespace kvexact::gpu
