// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/indexer_launch.cuh"

namespace kvexact::gpu {

cudaError_t LaunchIndexerRatio4(CompressArguments arguments, bool mxfp4, const Machine& machine, cudaStream_t stream) {
  return LaunchIndexerRatio4With<Strict>(arguments, mxfp4, machine, stream);
}

}  // namespace kvexact::gpu
