// SPDX-License-Identifier: Apache-2.0
// Buffers of a CUDA device with guard zones, filled from the arena before a launch and copied back behind it.
#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <cstring>
#include <stdexcept>
#include <utility>

#include "harness/backend/worker/launch_memory.h"
#include "harness/backend/worker/loaded_library.h"
#include "harness/backend/worker/packet.h"

namespace kvexact::worker {
namespace {

constexpr std::int64_t kZone = 4096;  // guard bytes before and behind a buffer

void Require(cudaError_t error, const char* what) {
  if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// One allocation that is kept from launch to launch and grows.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(DeviceBlock&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  DeviceBlock& operator=(DeviceBlock&&) = delete;
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  ~DeviceBlock() { cudaFree(data_); }

  std::uint8_t* Reserve(std::int64_t size) {
    if (size > size_) {
      cudaFree(data_);
      data_ = nullptr;
      size_ = 0;
      void* data = nullptr;
      Require(cudaMalloc(&data, static_cast<std::size_t>(size)), "cudaMalloc");
      data_ = static_cast<std::uint8_t*>(data);
      size_ = size;
    }
    return data_;
  }
  std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::int64_t size_ = 0;
};

class CudaMemory final : public LaunchMemory {
 public:
  explicit CudaMemory(int device) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count <= device) {
      throw OpenFailure{
          "memory", "the backend asks for CUDA memory, and this machine has no CUDA device " + std::to_string(device)};
    }
    try {
      Require(cudaSetDevice(device), "cudaSetDevice");
      Require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    } catch (const std::runtime_error& e) {
      throw OpenFailure{"memory", e.what()};
    }
  }

  void Bind(std::vector<LaunchTensor>& tensors) override {
    while (blocks_.size() < tensors.size()) blocks_.emplace_back();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Span& span = tensors[i].span;
      std::uint8_t* block = blocks_[i].Reserve(span.size + 2 * kZone);
      Require(cudaMemsetAsync(block, kCanary, static_cast<std::size_t>(span.size + 2 * kZone), stream_), "cudaMemset");
      MapArena(span);
      Require(cudaMemcpyAsync(block + kZone, arena_ + span.pages_begin + span.data_offset,
                              static_cast<std::size_t>(span.size), cudaMemcpyHostToDevice, stream_),
              "cudaMemcpy");
      tensors[i].view.data = block + kZone;
    }
    Require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

  void* stream() const override { return stream_; }

  Findings Collect(std::vector<LaunchTensor>& tensors) override {
    Findings findings;
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
      findings.failure = std::string("the device reports: ") + cudaGetErrorString(error);
      return findings;
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) Collect(blocks_[i].data(), tensors[i], findings);
    return findings;
  }

 private:
  void MapArena(const Span& span) {
    const std::int64_t end = span.pages_begin + span.pages_size;
    if (end <= arena_size_) return;
    if (arena_ != nullptr) ::munmap(arena_, static_cast<std::size_t>(arena_size_));
    arena_size_ = 2 * end;
    void* arena = ::mmap(nullptr, static_cast<std::size_t>(arena_size_), PROT_READ | PROT_WRITE, MAP_SHARED, kArena, 0);
    if (arena == MAP_FAILED) throw std::runtime_error("mmap failed");
    arena_ = static_cast<std::uint8_t*>(arena);
  }

  void Collect(const std::uint8_t* block, const LaunchTensor& tensor, Findings& findings) {
    const Span& span = tensor.span;
    copy_.resize(static_cast<std::size_t>(span.size + 2 * kZone));
    Require(cudaMemcpy(copy_.data(), block, copy_.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    const auto damage = [&](std::int64_t begin, const char* where) {
      std::int64_t count = 0;
      for (std::int64_t i = begin; i < begin + kZone; ++i) count += copy_[static_cast<std::size_t>(i)] != kCanary;
      if (count > 0) {
        findings.damaged_guards.push_back(tensor.name + " (" + std::to_string(count) + " bytes " + where + ")");
      }
    };
    damage(0, "before its start");
    damage(kZone + span.size, "behind its end");
    std::uint8_t* home = arena_ + span.pages_begin + span.data_offset;
    if (tensor.view.is_output != 0) {
      std::memcpy(home, copy_.data() + kZone, static_cast<std::size_t>(span.size));
    } else if (std::memcmp(home, copy_.data() + kZone, static_cast<std::size_t>(span.size)) != 0) {
      findings.written_inputs.push_back(tensor.name);
    }
  }

  cudaStream_t stream_ = nullptr;
  std::vector<DeviceBlock> blocks_;
  std::vector<std::uint8_t> copy_;
  std::uint8_t* arena_ = nullptr;
  std::int64_t arena_size_ = 0;
};

}  // namespace

std::unique_ptr<LaunchMemory> MakeDeviceMemory(int device) { return std::make_unique<CudaMemory>(device); }

}  // namespace kvexact::worker
