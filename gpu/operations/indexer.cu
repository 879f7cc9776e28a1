// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/indexer_ratio4.cuh"
#include "gpu/operations/launch.h"

namespace kvexact::gpu {
namespace {

constexpr int kResident = 4;  // blocks a multiprocessor, by registers
constexpr int kWarps = kIndexerThreads / 32;

unsigned BlocksFor(std::int64_t warps) { return static_cast<unsigned>((warps + kWarps - 1) / kWarps); }

template <bool kMxfp4>
void LaunchFormat(CompressArguments& arguments, std::int64_t resident, cudaStream_t stream) {
  if (arguments.tokens <= resident) {
    IndexerRatio4Few<Strict, kMxfp4><<<BlocksFor(arguments.tokens), kIndexerThreads, 0, stream>>>(arguments);
  } else {
    DealOut(resident, arguments);
    IndexerRatio4<Strict, kMxfp4><<<BlocksFor(arguments.token_step), kIndexerThreads, 0, stream>>>(arguments);
  }
}

}  // namespace

cudaError_t LaunchIndexerRatio4(CompressArguments arguments, bool mxfp4, const Machine& machine, cudaStream_t stream) {
  const std::int64_t resident = std::int64_t{kResident} * kWarps * machine.multiprocessors;
  if (mxfp4) {
    LaunchFormat<true>(arguments, resident, stream);
  } else {
    LaunchFormat<false>(arguments, resident, stream);
  }
  return cudaGetLastError();
}

}  // namespace kvexact::gpu
