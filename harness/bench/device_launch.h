// SPDX-License-Identifier: Apache-2.0
// A launch of the C interface over device memory.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "harness/abi/kvexact_backend.h"
#include "harness/bench/device.h"

namespace kvexact::bench {

enum class Access { kInput, kOutput };

class DeviceLaunch {
 public:
  DeviceLaunch();
  DeviceLaunch(const DeviceLaunch&) = delete;
  DeviceLaunch& operator=(const DeviceLaunch&) = delete;
  ~DeviceLaunch() = default;

  kvexact_params& params() { return params_; }
  kvexact_kv_layout& layout();  // from the first call on the launch has one

  // A packed tensor over memory that the launch keeps, or that outlives it. `name` is a literal.
  void Add(const char* name, kvexact_dtype type, const std::vector<std::int64_t>& shape, Memory memory,
           Access access = Access::kInput);
  void AddBorrowed(const char* name, kvexact_dtype type, const std::vector<std::int64_t>& shape, void* data);

  // Valid until the next Add.
  const kvexact_launch& Get();

 private:
  void Append(const char* name, kvexact_dtype type, const std::vector<std::int64_t>& shape, void* data, Access access);

  kvexact_params params_{};
  kvexact_kv_layout layout_{};
  std::deque<kvexact_tensor> tensors_;  // their addresses stay
  std::vector<const kvexact_tensor*> pointers_;
  std::vector<Memory> memory_;
  kvexact_launch launch_{};
};

}  // namespace kvexact::bench
