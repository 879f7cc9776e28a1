// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>

#include "harness/bench/device_kernels.h"

namespace kvexact::bench {
namespace {

__device__ std::uint64_t Mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

__device__ float Normal(std::uint64_t counter, std::uint64_t seed) {
  const std::uint64_t h = Mix(counter + seed * 0x1000000000000U);
  const float u = static_cast<float>((h >> 40) + 1) * 0x1p-24F;
  const float v = static_cast<float>(h >> 8 & 0xFFFFFF) * 0x1p-24F;
  return sqrtf(-2.0F * logf(u)) * cospif(2.0F * v);
}

template <class T>
__global__ void Fill(T* values, std::int64_t count, std::uint64_t seed) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const float x = Normal(static_cast<std::uint64_t>(i), seed);
    if constexpr (sizeof(T) == 4) {
      values[i] = x;
    } else {
      values[i] = __bfloat16_as_ushort(__float2bfloat16_rn(x));
    }
  }
}

__global__ void ReadAll(const uint4* from, std::int64_t count, unsigned* sink) {
  unsigned any = 0;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint4 v = from[i];
    any |= v.x | v.y | v.z | v.w;
  }
  if (any == 0x12345) *sink = any;
}

__global__ void CopyFour(const float4* from, float4* to) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x * 4 + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) v[i] = from[first + i * blockDim.x];
#pragma unroll
  for (int i = 0; i < 4; ++i) to[first + i * blockDim.x] = v[i];
}

__global__ void Nothing() {}

__global__ void Spin(std::int64_t cycles) {
  const std::int64_t begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

}  // namespace

void EnqueueFill(float* values, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  Fill<<<2048, 512, 0, stream>>>(values, count, seed);
}

void EnqueueFillBf16(std::uint16_t* values, std::int64_t count, std::uint64_t seed, cudaStream_t stream) {
  Fill<<<2048, 512, 0, stream>>>(values, count, seed);
}

void EnqueueRead(const void* from, std::int64_t bytes, unsigned* sink, cudaStream_t stream) {
  ReadAll<<<1024, 512, 0, stream>>>(static_cast<const uint4*>(from), bytes / 16, sink);
}

void EnqueueCopy(const void* from, void* to, std::int64_t bytes, int threads, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(bytes / 64 / threads);
  CopyFour<<<blocks, static_cast<unsigned>(threads), 0, stream>>>(static_cast<const float4*>(from),
                                                                  static_cast<float4*>(to));
}

void EnqueueNothing(cudaStream_t stream) { Nothing<<<1, 32, 0, stream>>>(); }

void EnqueueSpin(std::int64_t cycles, cudaStream_t stream) { Spin<<<1, 32, 0, stream>>>(cycles); }

}  // namespace kvexact::bench
