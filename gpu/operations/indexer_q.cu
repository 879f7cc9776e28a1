// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/enqueue.h"
#include "gpu/operations/indexer_q.cuh"
#include "gpu/operations/indexer_q_any.cuh"
#include "gpu/operations/launch.h"

namespace kvexact::gpu {
namespace {

// Blocks for one warp every `heads_a_warp` heads of a token. Sets groups.
Grid GridFor(IndexerQArguments& arguments, int heads_a_warp, int threads) {
  arguments.groups = (arguments.heads + heads_a_warp - 1) / heads_a_warp;
  arguments.groups_shift = -1;
  if ((arguments.groups & (arguments.groups - 1)) == 0) {
    arguments.groups_shift = 0;
    while ((std::int64_t{1} << arguments.groups_shift) < arguments.groups) ++arguments.groups_shift;
  }
  const std::int64_t warps = threads / 32;
  return {(arguments.tokens * arguments.groups + warps - 1) / warps, threads};
}

template <QFormat kFormat>
cudaError_t LaunchFormat(IndexerQArguments arguments, const Machine& machine, cudaStream_t stream) {
  // Few heads: the most warps. Many: the least work a head.
  if (arguments.tokens * arguments.heads <= std::int64_t{machine.multiprocessors} * 8) {
    const Grid grid = GridFor(arguments, QFew::kHeadsOfAWarp, QFew::kThreads);
    return Enqueue(IndexerQFew<kFormat, QFew>, grid, stream, arguments);
  }
  // One group after another in the same warp once there are several for each.
  Grid grid = GridFor(arguments, QMany::kHeadsOfAWarp, QMany::kThreads);
  const std::int64_t resident = std::int64_t{machine.multiprocessors} * QMany::kResident;
  if (grid.blocks <= 4 * resident) return Enqueue(IndexerQFew<kFormat, QMany>, grid, stream, arguments);
  grid.blocks = resident;
  return Enqueue(IndexerQMany<kFormat, QMany>, grid, stream, arguments);
}

template <QFormat kFormat>
cudaError_t LaunchAnyFormat(IndexerQArguments arguments, cudaStream_t stream) {
  const Grid grid = GridFor(arguments, kQHeads, kQAnyThreads);
  return Enqueue(IndexerQAny<kFormat>, grid, stream, arguments);
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
