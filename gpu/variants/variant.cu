// SPDX-License-Identifier: Apache-2.0
// The production kernels with KVEXACT_ARITHMETIC: stands in for sparse_attn.cu and indexer.cu.
#include "gpu/operations/indexer_launch.cuh"
#include "gpu/operations/sparse_attn_launch.cuh"
#include "gpu/variants/arithmetic.cuh"

namespace kvexact::gpu {

cudaError_t LaunchSparseRatio4(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  return LaunchSparseRatio4With<KVEXACT_ARITHMETIC>(arguments, machine, stream);
}

cudaError_t LaunchSparseRatio128(CompressArguments arguments, const Machine& machine, cudaStream_t stream) {
  return LaunchSparseRatio128With<KVEXACT_ARITHMETIC>(arguments, machine, stream);
}

cudaError_t LaunchIndexerRatio4(CompressArguments arguments, bool mxfp4, const Machine& machine, cudaStream_t stream) {
  return LaunchIndexerRatio4With<KVEXACT_ARITHMETIC>(arguments, mxfp4, machine, stream);
}

}  // namespace kvexact::gpu
