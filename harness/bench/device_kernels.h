// SPDX-License-Identifier: Apache-2.0
// The benchmark's own kernels behind plain functions: the seam between host code and the .cu file.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace kvexact::bench {

void EnqueueFill(float* values, std::int64_t count, std::uint64_t seed, cudaStream_t stream);
void EnqueueFillBf16(std::uint16_t* values, std::int64_t count, std::uint64_t seed, cudaStream_t stream);
// `bytes` is a multiple of 16.
void EnqueueRead(const void* from, std::int64_t bytes, unsigned* sink, cudaStream_t stream);
// `bytes` is a multiple of 64 * threads.
void EnqueueCopy(const void* from, void* to, std::int64_t bytes, int threads, cudaStream_t stream);
void EnqueueNothing(cudaStream_t stream);
void EnqueueSpin(std::int64_t cycles, cudaStream_t stream);

}  // namespace kvexact::bench
