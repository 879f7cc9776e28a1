// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/indexer_q.cuh"

#include "gpu/operations/indexer_q_any.cuh"
#include "gpu/operations/launch.h"

namespace kvexact::gpu {
namespace {

// Blocks of 8 warps, one warp `heads_a_warp` heads of a token. Sets groups; the grid has at most 2^31 - 1 blocks, which a
// launch checks.
unsigned Grid(IndexerQArguments& arguments, int heads_a_warp, int threads) {
  arguments.groups = (arguments.heads + heads_a_warp - 1) / heads_a_warp;
  const bool power = (arguments.groups & (arguments.groups - 1)) == 0;
  arguments.groups_shift = -1;
  if (power) {
    arguments.groups_shift = 0;
    while ((std::int64_t{1} << arguments.groups_shift) < arguments.groups) ++arguments.groups_shift;
  }
  const std::int64_t warps = arguments.tokens * arguments.groups;
  const std::int64_t blocks = (warps + threads / 32 - 1) / (threads / 32);
  return blocks > 0x7FFFFFFF ? 0 : static_cast<unsigned>(blocks);
}

template <QFormat kFormat>
cudaError_t LaunchFormat(IndexerQArguments arguments, const Machine& machine, cudaStream_t stream) {
  // Few heads: the most warps. Many: the least work a head.
  const std::int64_t warps_of_two = arguments.tokens * arguments.heads / 2;
  if (warps_of_two <= std::int64_t{machine.multiprocessors} * 16) {
    const unsigned grid = Grid(arguments, 2, kQThreads);
    IndexerQ<kFormat, 1><<<grid, kQThreads, 0, stream>>>(arguments);
    return cudaGetLastError();
  }
  const unsigned grid = Grid(arguments, 8, kQThreads);
  if (grid == 0) return cudaErrorInvalidConfiguration;
  IndexerQ<kFormat, 4><<<grid, kQThreads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

template <QFormat kFormat>
cudaError_t LaunchAnyFormat(IndexerQArguments arguments, cudaStream_t stream) {
  const unsigned grid = Grid(arguments, kQHeads, kQAnyThreads);
  if (grid == 0) return cudaErrorInvalidConfiguration;
  IndexerQAny<kFormat><<<grid, kQAnyThreads, 0, stream>>>(arguments);
  return cudaGetLastError();
}

}  // namespace

cudaError_t LaunchIndexerQ(IndexerQArguments arguments, QFormat format, const Machine& machine, cudaStream_t stream) {
  switch (format) {
    case QFormat::kE4m3Fn:
      return LaunchFormat<QFormat::kE4m3Fn>(arguments, machine, stream);
    case QFormat::kE2m1:
      return LaunchFormat<QFormat::kE2m1>(arguments, machine, stream);
    case QFormat::kE4m3Fnuz:
      break;
  }
  return LaunchIndexerQAny(arguments, format, stream);
}

cudaError_t LaunchIndexerQAny(IndexerQArguments arguments, QFormat format, cudaStream_t stream) {
  switch (format) {
    case QFormat::kE4m3Fn:
      return LaunchAnyFormat<QFormat::kE4m3Fn>(arguments, stream);
    case QFormat::kE4m3Fnuz:
      return LaunchAnyFormat<QFormat::kE4m3Fnuz>(arguments, stream);
    case QFormat::kE2m1:
      break;
  }
  return LaunchAnyFormat<QFormat::kE2m1>(arguments, stream);
}

}  // namespace kvexact::gpu
