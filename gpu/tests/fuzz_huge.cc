// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "gpu/backend_launch.h"
#include "gpu/operations/machine.h"
#include "gpu/tests/fuzz_case.h"
#include "harness/backend/abi_launch.h"
#include "harness/backend/backend.h"
#include "harness/generate/generate.h"

namespace kvexact::gpu {
namespace {

constexpr std::int64_t kBeyond = (std::int64_t{1} << 32) + (std::int64_t{1} << 20);
constexpr std::uint8_t kFill = 0x5A;

// Memory of the device for the time of a test.
class Buffer {
 public:
  explicit Buffer(std::int64_t bytes) : status_(FromCuda(cudaMalloc(&data_, static_cast<std::size_t>(bytes)))) {}
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(data_); }
  const Status& status() const { return status_; }

 private:
  void* data_ = nullptr;
  Status status_;
};

// Moves every non-negative entry of a tensor up by `by`.
template <class T>
void MoveUp(Tensor& tensor, T by) {
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    if (tensor.as<T>()[i] >= 0) tensor.as<T>()[i] += by;
  }
}

// Blocks of the state and pages of the cache from `blocks` and `pages` on, with their contents, are those of the case.
std::string RunMoved(const Case& c, const TensorMap& expected, bool misaligned) {
  const std::int64_t page_bytes = c.outputs_before.at("kv_cache").dim(1);
  const std::int64_t block_bytes = c.inputs.at("state_cache").dim(1) * 4;
  const std::int64_t pages = kBeyond / page_bytes + 1;
  const std::int64_t blocks = kBeyond / block_bytes + 1;
  TensorMap inputs = c.inputs;
  TensorMap outputs = c.outputs_before;
  MoveUp<std::int64_t>(inputs.at("kv_slot_mapping"), pages * c.params.kv_cache_block_size);
  MoveUp<std::int32_t>(inputs.at("block_table"), static_cast<std::int32_t>(blocks));

  const std::int64_t cache_bytes = c.outputs_before.at("kv_cache").size_bytes();
  const std::int64_t state_bytes = c.inputs.at("state_cache").size_bytes();
  const std::int64_t before = pages * page_bytes;
  const std::int64_t shift = misaligned ? 4 : 0;
  const Buffer cache(before + cache_bytes + shift);
  const Buffer state(blocks * block_bytes + state_bytes + shift);
  DeviceArena arena;
  const AbiLaunch host(c, inputs, outputs);
  Status status = cache.status().ok() ? state.status() : cache.status();
  if (status.ok()) status = arena.Upload(*host.get(), 0, nullptr);
  if (!status.ok()) return status.message;
  cudaMemset(cache.data(), kFill, static_cast<std::size_t>(before + shift));
  cudaMemcpy(cache.data() + shift + before, c.outputs_before.at("kv_cache").bytes(),
             static_cast<std::size_t>(cache_bytes), cudaMemcpyHostToDevice);
  cudaMemcpy(state.data() + shift + blocks * block_bytes, c.inputs.at("state_cache").bytes(),
             static_cast<std::size_t>(state_bytes), cudaMemcpyHostToDevice);

  std::vector<kvexact_tensor> tensors;
  for (std::uint32_t i = 0; i < arena.device_launch()->num_tensors; ++i)
    tensors.push_back(*arena.device_launch()->tensors[i]);
  std::vector<const kvexact_tensor*> pointers;
  for (kvexact_tensor& tensor : tensors) {
    if (std::strcmp(tensor.name, "kv_cache") == 0) tensor.data = cache.data() + shift;
    if (std::strcmp(tensor.name, "state_cache") == 0) tensor.data = state.data() + shift;
    pointers.push_back(&tensor);
  }
  kvexact_launch launch = *arena.device_launch();
  launch.tensors = pointers.data();
  status = Launch(launch, nullptr);
  if (status.ok()) status = FromCuda(cudaDeviceSynchronize());
  if (!status.ok()) return status.message;

  std::vector<std::uint8_t> got(static_cast<std::size_t>(before + shift + cache_bytes));
  cudaMemcpy(got.data(), cache.data(), got.size(), cudaMemcpyDeviceToHost);
  const auto first = static_cast<std::size_t>(before + shift);
  for (std::size_t i = 0; i < first; ++i) {
    if (got[i] != kFill) return fmt::format("byte {} below the pages was written", i);
  }
  if (std::memcmp(got.data() + first, expected.at("kv_cache").bytes(), static_cast<std::size_t>(cache_bytes)) != 0) {
    return "bytes differ from the reference's";
  }
  return {};
}

}  // namespace

std::string FuzzHuge(std::int64_t seed) {
  for (const char* text : {"op=sparse_attn", "op=sparse_attn ratio=128 overlap=false block=8 page=2 requests=0+1024x1",
                           "op=indexer_fp8 requests=0+64x1", "op=indexer_mxfp4 requests=0+64x1"}) {
    const Case c = Generate(ParseSpec(fmt::format("{} seed={}", text, seed)));
    TensorMap expected = c.outputs_before;
    MakeReferenceBackend()->Run(c, expected);
    for (const bool misaligned : {false, true}) {
      if (const std::string failure = RunMoved(c, expected, misaligned); !failure.empty()) {
        return fmt::format("{}: {}", c.name, failure);
      }
    }
  }
  return {};
}

}  // namespace kvexact::gpu
