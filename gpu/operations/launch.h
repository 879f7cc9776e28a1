// SPDX-License-Identifier: Apache-2.0
// The kernels of each group behind plain functions: the seam between host code and the .cu files.
#pragma once

#include <cuda_runtime_api.h>

#include "gpu/operations/machine.h"
#include "gpu/stages/arguments.cuh"
#include "gpu/stages/indexer_q_arguments.cuh"

namespace kvexact::gpu {

// Workers that the candidates are dealt out to: one each where there are at most `most` candidates, otherwise a number
// that has no factor in common with ratios that are powers of two, so that each gets its share of the tokens that do
// work. Sets token_step and run_shift.
void DealOut(std::int64_t most, CompressArguments& arguments);

// arguments.tokens is at least 1. Each returns what the launch came to.
cudaError_t LaunchSparseRatio4(CompressArguments arguments, const Machine& machine, cudaStream_t stream);
cudaError_t LaunchSparseRatio128(CompressArguments arguments, const Machine& machine, cudaStream_t stream);
cudaError_t LaunchIndexerRatio4(CompressArguments arguments, bool mxfp4, const Machine& machine, cudaStream_t stream);
cudaError_t LaunchCompressAny(CompressArguments arguments, int head, const Machine& machine, cudaStream_t stream);
cudaError_t LaunchGatherSplit(CompressArguments arguments, const Machine& machine, cudaStream_t stream);
cudaError_t LaunchFinalize(CompressArguments arguments, const Machine& machine, cudaStream_t stream);

// The production shape (64 rotated columns, fp32 table, heads a multiple of 8, aligned rows), or any other.
cudaError_t LaunchIndexerQ(IndexerQArguments arguments, QFormat format, const Machine& machine, cudaStream_t stream);
cudaError_t LaunchIndexerQAny(IndexerQArguments arguments, QFormat format, cudaStream_t stream);

}  // namespace kvexact::gpu
