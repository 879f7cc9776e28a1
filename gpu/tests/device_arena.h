// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "gpu/operations/status.h"
#include "harness/abi/kvexact_backend.h"

namespace kvexact::gpu {

// Copies of host tensors in device memory, each between two guard zones of kGuard bytes.
class DeviceArena {
 public:
  static constexpr std::size_t kGuard = 256;

  DeviceArena() = default;
  ~DeviceArena();
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  // Enqueues copies of the launch's tensors. Each starts `shift` elements behind a multiple of kGuard bytes.
  Status Upload(const kvexact_launch& launch, int shift, cudaStream_t stream);
  // The same launch over the copies; valid until the next Upload.
  const kvexact_launch* device_launch() const { return &launch_; }
  // Waits for the stream, copies outputs back, and fails if an input or a guard zone changed.
  Status Download(cudaStream_t stream);

 private:
  Status Reserve(std::size_t bytes);

  std::vector<std::uint8_t> before_;
  std::vector<std::uint8_t> after_;
  std::vector<std::size_t> offsets_;
  std::vector<kvexact_tensor> tensors_;
  std::vector<const kvexact_tensor*> pointers_;
  std::vector<const kvexact_tensor*> host_;
  kvexact_launch launch_{};
  std::uint8_t* device_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace kvexact::gpu
