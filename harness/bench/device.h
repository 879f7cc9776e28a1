// SPDX-License-Identifier: Apache-2.0
// A CUDA device as the benchmark uses it: memory, inputs, and replays timed from a cold L2.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/bench/limits.h"

namespace kvexact::bench {

// Throws std::runtime_error with the runtime's words unless `error` is cudaSuccess.
void Require(cudaError_t error, const char* what);

// Owned device memory.
class Memory {
 public:
  explicit Memory(std::int64_t bytes);
  ~Memory();
  Memory(Memory&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

template <class T>
Memory Upload(const std::vector<T>& values) {
  const std::size_t bytes = values.size() * sizeof(T);
  Memory memory(static_cast<std::int64_t>(bytes));
  Require(cudaMemcpy(memory.data(), values.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  return memory;
}

// Normal values (Box-Muller over a counter) as fp32, or as bf16 bits.
void FillNormal(float* values, std::int64_t count, std::uint64_t seed);
void FillNormalBf16(std::uint16_t* values, std::int64_t count, std::uint64_t seed);

// Enqueues work on a stream.
using Enqueue = std::function<void(cudaStream_t)>;

// What an Enqueue put on the stream while it was captured, ready to be replayed.
class Graph {
 public:
  Graph(const Enqueue& enqueue, cudaStream_t stream);
  ~Graph();
  Graph(Graph&& other) noexcept : executable_(other.executable_) { other.executable_ = nullptr; }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph& operator=(Graph&&) = delete;
  cudaGraphExec_t get() const { return executable_; }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

// Device 0, a stream of its own and what a timed replay needs.
class Device {
 public:
  // Throws NoDevice.
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const std::string& name() const { return name_; }
  cudaStream_t stream() const { return stream_; }
  // Microseconds of one replay, from an L2 that was filled with clean foreign lines by reading: lines that a flush
  // leaves dirty would be written back at the replay's expense.
  double Replay(const Graph& graph);
  // An empty kernel, and the best copy of 1 GiB; medians of `rounds` replays.
  Limits MeasureLimits(int rounds);

 private:
  double MedianOf(const Graph& graph, int rounds);

  std::string name_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  Memory flush_;
  Memory sink_;
};

}  // namespace kvexact::bench
