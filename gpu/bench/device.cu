// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "gpu/bench/device.h"
#include "gpu/operations/machine.h"
#include "gpu/primitives/convert.cuh"

namespace kvexact::gpu::bench {
namespace {

constexpr std::int64_t kFlushBytes = std::int64_t{512} << 20;
constexpr std::int64_t kCopyBytes = std::int64_t{1} << 30;
constexpr int kRounds = 60;
constexpr int kWarmUp = 10;

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
      values[i] = static_cast<T>(PackBf16(x, 0.0F));
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

}  // namespace

void Require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "kvexact_bench_gpu: %s\n", FromCuda(error).message.c_str());
  std::exit(3);
}

Memory::Memory(std::int64_t bytes) {
  Require(cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
}
Memory::~Memory() { cudaFree(data_); }

void FillNormal(float* values, std::int64_t count, std::uint64_t seed) {
  Fill<<<2048, 512>>>(values, count, seed);
  Require(cudaDeviceSynchronize());
}

void FillNormalBf16(std::uint16_t* values, std::int64_t count, std::uint64_t seed) {
  Fill<<<2048, 512>>>(values, count, seed);
  Require(cudaDeviceSynchronize());
}

Timer::Timer() : flush_(kFlushBytes), sink_(4) {
  Require(cudaMemset(flush_.as<void>(), 0, kFlushBytes));
  Require(cudaStreamCreate(&stream_));
  Require(cudaEventCreate(&begin_));
  Require(cudaEventCreate(&end_));
}

Timer::~Timer() {
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
  cudaStreamDestroy(stream_);
}

double Timer::Microseconds(const std::function<void(cudaStream_t)>& launch) {
  launch(stream_);
  Require(cudaGetLastError());
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  Require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  launch(stream_);
  Require(cudaStreamEndCapture(stream_, &graph));
  Require(cudaGraphInstantiate(&executable, graph, 0));
  std::vector<double> times;
  for (int i = 0; i < kRounds; ++i) {
    ReadAll<<<1024, 512, 0, stream_>>>(flush_.as<uint4>(), kFlushBytes / 16, sink_.as<unsigned>());
    Require(cudaEventRecord(begin_, stream_));
    Require(cudaGraphLaunch(executable, stream_));
    Require(cudaEventRecord(end_, stream_));
    Require(cudaEventSynchronize(end_));
    float milliseconds = 0;
    Require(cudaEventElapsedTime(&milliseconds, begin_, end_));
    if (i >= kWarmUp) times.push_back(1e3 * static_cast<double>(milliseconds));
  }
  Require(cudaGraphExecDestroy(executable));
  Require(cudaGraphDestroy(graph));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double Timer::EmptyLaunch() {
  return Microseconds([](cudaStream_t stream) { Nothing<<<1, 32, 0, stream>>>(); });
}

double Timer::CopyBandwidth() {
  const Memory from(kCopyBytes);
  const Memory to(kCopyBytes);
  Require(cudaMemset(from.as<void>(), 0, kCopyBytes));
  double best = 0;
  for (const int threads : {128, 256, 512, 1024}) {
    const auto blocks = static_cast<unsigned>(kCopyBytes / 16 / 4 / threads);
    const double us = Microseconds(
        [&](cudaStream_t stream) { CopyFour<<<blocks, threads, 0, stream>>>(from.as<float4>(), to.as<float4>()); });
    best = std::max(best, 2.0 * static_cast<double>(kCopyBytes) / (us * 1e-6));
  }
  return best;
}

}  // namespace kvexact::gpu::bench
