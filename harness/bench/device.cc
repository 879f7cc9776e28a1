// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/device.h"

#include <algorithm>
#include <stdexcept>

#include "harness/bench/bench.h"
#include "harness/bench/device_kernels.h"

namespace kvexact::bench {
namespace {

constexpr std::int64_t kFlushBytes = std::int64_t{512} << 20;  // several times any L2
constexpr std::int64_t kCopyBytes = std::int64_t{1} << 30;

// Throws NoDevice unless device 0 can be used. Without a driver every call fails with cudaErrorInsufficientDriver and
// leaves its results untouched.
std::string NameOfDevice() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver || (error == cudaSuccess && count == 0)) {
    throw NoDevice("no CUDA device: no NVIDIA GPU or driver is present");
  }
  if (error != cudaSuccess) throw NoDevice(std::string("no CUDA device: ") + cudaGetErrorString(error));
  Require(cudaSetDevice(0), "cudaSetDevice");
  cudaDeviceProp properties;
  Require(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  return properties.name;
}

}  // namespace

void Require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

Memory::Memory(std::int64_t bytes) {
  Require(cudaMalloc(&data_, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))), "cudaMalloc");
}
Memory::~Memory() { cudaFree(data_); }

void FillNormal(float* values, std::int64_t count, std::uint64_t seed) {
  EnqueueFill(values, count, seed, nullptr);
  Require(cudaDeviceSynchronize(), "fill");
}

void FillNormalBf16(std::uint16_t* values, std::int64_t count, std::uint64_t seed) {
  EnqueueFillBf16(values, count, seed, nullptr);
  Require(cudaDeviceSynchronize(), "fill");
}

Graph::Graph(const Enqueue& enqueue, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  Require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  try {
    enqueue(stream);
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  Require(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  Require(error, "cudaGraphInstantiate");
}
Graph::~Graph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
}

Device::Device() : name_(NameOfDevice()), flush_(kFlushBytes), sink_(4) {
  Require(cudaMemset(flush_.data(), 0, kFlushBytes), "cudaMemset");
  Require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  Require(cudaEventCreate(&begin_), "cudaEventCreate");
  Require(cudaEventCreate(&end_), "cudaEventCreate");
  Require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

Device::~Device() {
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
  cudaStreamDestroy(stream_);
}

double Device::Replay(const Graph& graph) {
  EnqueueRead(flush_.data(), kFlushBytes, static_cast<unsigned*>(sink_.data()), stream_);
  Require(cudaEventRecord(begin_, stream_), "cudaEventRecord");
  Require(cudaGraphLaunch(graph.get(), stream_), "cudaGraphLaunch");
  Require(cudaEventRecord(end_, stream_), "cudaEventRecord");
  Require(cudaEventSynchronize(end_), "cudaEventSynchronize");
  float milliseconds = 0;
  Require(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
  return 1e3 * static_cast<double>(milliseconds);
}

double Device::MedianOf(const Graph& graph, int rounds) {
  std::vector<double> times;
  for (int i = -rounds / 5; i < rounds; ++i) {
    const double us = Replay(graph);
    if (i >= 0) times.push_back(us);
  }
  return Median(times);
}

Limits Device::MeasureLimits(int rounds) {
  Limits limits;
  limits.empty_us = MedianOf(Graph(EnqueueNothing, stream_), rounds);
  const Memory from(kCopyBytes);
  const Memory to(kCopyBytes);
  Require(cudaMemset(from.data(), 0, kCopyBytes), "cudaMemset");
  Require(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  for (const int threads : {128, 256, 512, 1024}) {
    const Graph copy([&](cudaStream_t s) { EnqueueCopy(from.data(), to.data(), kCopyBytes, threads, s); }, stream_);
    const double bytes = 2.0 * static_cast<double>(kCopyBytes);
    limits.bandwidth = std::max(limits.bandwidth, bytes / (MedianOf(copy, rounds) * 1e-6));
  }
  return limits;
}

}  // namespace kvexact::bench
