// SPDX-License-Identifier: Apache-2.0
#include "gpu/tests/device_arena.h"

#include <algorithm>
#include <cstring>

#include "gpu/operations/checks.h"
#include "gpu/operations/machine.h"

namespace kvexact::gpu {
namespace {

constexpr std::uint8_t kGuardByte = 0xC5;

std::size_t ElementBytes(std::int32_t dtype) {
  switch (dtype) {
    case KVEXACT_BF16:
      return 2;
    case KVEXACT_F32:
    case KVEXACT_I32:
      return 4;
    case KVEXACT_I64:
      return 8;
    default:
      return 1;
  }
}

}  // namespace

DeviceArena::~DeviceArena() { cudaFree(device_); }

Status DeviceArena::Reserve(std::size_t bytes) {
  if (bytes <= capacity_) return {};
  cudaFree(device_);
  device_ = nullptr;
  capacity_ = 0;
  void* memory = nullptr;
  if (Status s = FromCuda(cudaMalloc(&memory, bytes)); !s.ok()) return s;
  device_ = static_cast<std::uint8_t*>(memory);
  capacity_ = bytes;
  return {};
}

Status DeviceArena::Upload(const kvexact_launch& launch, int shift, cudaStream_t stream) {
  host_.assign(launch.tensors, launch.tensors + launch.num_tensors);
  tensors_.clear();
  offsets_.clear();
  std::size_t end = kGuard;
  for (const kvexact_tensor* tensor : host_) {
    const std::size_t start = end + static_cast<std::size_t>(shift) * ElementBytes(tensor->dtype);
    offsets_.push_back(start);
    end = (start + tensor->size_bytes + 2 * kGuard - 1) / kGuard * kGuard;
  }
  before_.assign(end, kGuardByte);
  for (std::size_t i = 0; i < host_.size(); ++i) {
    if (host_[i]->size_bytes > 0) std::memcpy(before_.data() + offsets_[i], host_[i]->data, host_[i]->size_bytes);
  }
  if (Status s = Reserve(end); !s.ok()) return s;
  for (std::size_t i = 0; i < host_.size(); ++i) {
    tensors_.push_back(*host_[i]);
    tensors_.back().data = device_ + offsets_[i];
    tensors_.back().memory = KVEXACT_MEMORY_CUDA;
  }
  pointers_.clear();
  for (const kvexact_tensor& tensor : tensors_) pointers_.push_back(&tensor);
  launch_ = launch;
  launch_.tensors = pointers_.data();
  return FromCuda(cudaMemcpyAsync(device_, before_.data(), end, cudaMemcpyHostToDevice, stream));
}

Status DeviceArena::Download(cudaStream_t stream) {
  after_.resize(before_.size());
  if (Status s = FromCuda(cudaMemcpyAsync(after_.data(), device_, after_.size(), cudaMemcpyDeviceToHost, stream));
      !s.ok()) {
    return s;
  }
  if (Status s = FromCuda(cudaStreamSynchronize(stream)); !s.ok()) return s;
  for (std::size_t i = 0; i < host_.size(); ++i) {
    if (host_[i]->is_output == 0) continue;
    if (host_[i]->size_bytes > 0) std::memcpy(host_[i]->data, after_.data() + offsets_[i], host_[i]->size_bytes);
    // What may change is equal from here on, so that everything else can be compared at once.
    std::copy_n(before_.begin() + static_cast<std::ptrdiff_t>(offsets_[i]), host_[i]->size_bytes,
                after_.begin() + static_cast<std::ptrdiff_t>(offsets_[i]));
  }
  if (before_ == after_) return {};
  const auto changed =
      static_cast<std::size_t>(std::mismatch(before_.begin(), before_.end(), after_.begin()).first - before_.begin());
  for (std::size_t i = 0; i < host_.size(); ++i) {
    if (changed >= offsets_[i] && changed < offsets_[i] + host_[i]->size_bytes) {
      return {StatusCode::kFailed, std::string(host_[i]->name) + ": an input was written to"};
    }
  }
  return {StatusCode::kFailed, "a kernel wrote outside its buffers"};
}

}  // namespace kvexact::gpu
