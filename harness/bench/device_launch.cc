// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/device_launch.h"

#include <utility>

namespace kvexact::bench {
namespace {

std::int64_t SizeOf(kvexact_dtype type) {
  switch (type) {
    case KVEXACT_U8:
      return 1;
    case KVEXACT_BF16:
      return 2;
    case KVEXACT_F32:
    case KVEXACT_I32:
      return 4;
    case KVEXACT_I64:
      break;
  }
  return 8;
}

}  // namespace

DeviceLaunch::DeviceLaunch() {
  params_.struct_size = sizeof params_;
  launch_.struct_size = sizeof launch_;
  launch_.params = &params_;
}

kvexact_kv_layout& DeviceLaunch::layout() {
  layout_.struct_size = sizeof layout_;
  launch_.kv_layout = &layout_;
  return layout_;
}

void DeviceLaunch::Add(const char* name, kvexact_dtype type, const std::vector<std::int64_t>& shape, Memory memory,
                       Access access) {
  memory_.push_back(std::move(memory));
  Append(name, type, shape, memory_.back().data(), access);
}

void DeviceLaunch::AddBorrowed(const char* name, kvexact_dtype type, const std::vector<std::int64_t>& shape,
                               void* data) {
  Append(name, type, shape, data, Access::kInput);
}

void DeviceLaunch::Append(const char* name, kvexact_dtype type, const std::vector<std::int64_t>& shape, void* data,
                          Access access) {
  kvexact_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  tensor.dtype = type;
  tensor.memory = KVEXACT_MEMORY_CUDA;
  tensor.rank = static_cast<std::int32_t>(shape.size());
  tensor.name = name;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    tensor.shape[i] = shape[i];
    tensor.strides[i] = stride;
    stride *= shape[i];
  }
  tensor.data = data;
  tensor.size_bytes = static_cast<std::uint64_t>(stride * SizeOf(type));
  tensor.is_output = access == Access::kOutput ? 1 : 0;
  tensors_.push_back(tensor);
  pointers_.push_back(&tensors_.back());
}

const kvexact_launch& DeviceLaunch::Get() {
  launch_.num_tensors = static_cast<std::uint32_t>(pointers_.size());
  launch_.tensors = pointers_.data();
  return launch_;
}

}  // namespace kvexact::bench
