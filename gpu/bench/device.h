// SPDX-License-Identifier: Apache-2.0
// Device memory, inputs and timing of the benchmark.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace kvexact::gpu::bench {

// Ends the program with the runtime's words unless `error` is cudaSuccess.
void Require(cudaError_t error);

// Owned device memory.
class Memory {
 public:
  explicit Memory(std::int64_t bytes);
  ~Memory();
  Memory(Memory&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  Memory& operator=(Memory&&) = delete;
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

template <class T>
Memory Upload(const std::vector<T>& values) {
  Memory memory(static_cast<std::int64_t>(values.size() * sizeof(T)));
  Require(cudaMemcpy(memory.as<T>(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

// Normal values (Box-Muller over a counter), as fp32 or bf16.
void FillNormal(float* values, std::int64_t count, std::uint64_t seed);
void FillNormalBf16(std::uint16_t* values, std::int64_t count, std::uint64_t seed);

// Times launches as the peers are timed: the median of 50 replays of a one-launch graph after 10, each from an L2 that
// was filled with clean foreign lines by reading.
class Timer {
 public:
  Timer();
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  double Microseconds(const std::function<void(cudaStream_t)>& launch);
  // An empty kernel, and the best copy of 1 GiB (bytes read and written a second).
  double EmptyLaunch();
  double CopyBandwidth();

 private:
  Memory flush_;
  Memory sink_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace kvexact::gpu::bench
