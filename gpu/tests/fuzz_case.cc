// SPDX-License-Identifier: Apache-2.0
#include "gpu/tests/fuzz_case.h"

#include <fmt/format.h>

#include <cstring>

#include "gpu/backend_launch.h"
#include "harness/backend/abi_launch.h"
#include "harness/backend/backend.h"
#include "harness/judge/written_bytes.h"

namespace kvexact::gpu {
namespace {

// One way to launch a case.
struct Variant {
  const char* name;
  int shift;  // elements that every buffer starts behind an aligned address
  Machine machine;
};

std::string Difference(const TensorMap& expected, const TensorMap& got) {
  for (const auto& [name, tensor] : expected) {
    const Tensor& other = got.at(name);
    if (std::memcmp(tensor.bytes(), other.bytes(), static_cast<std::size_t>(tensor.size_bytes())) == 0) continue;
    std::int64_t differing = 0;
    std::int64_t first = -1;
    for (std::int64_t i = 0; i < tensor.size_bytes(); ++i) {
      if (tensor.bytes()[i] == other.bytes()[i]) continue;
      if (first < 0) first = i;
      ++differing;
    }
    return fmt::format("{}: {} bytes differ, the first at {}: {:#04x}, must be {:#04x}", name, differing, first,
                       other.bytes()[first], tensor.bytes()[first]);
  }
  return {};
}

std::int64_t BytesWritten(const Case& c) {
  std::int64_t bytes = 0;
  for (const auto& [name, ranges] : WrittenBytes(c, SeedStages())) {
    for (const ByteRange& range : ranges) bytes += range.end - range.begin;
  }
  return bytes;
}

}  // namespace

FuzzOutcome FuzzCase(const Case& c, const Machine& machine, FuzzDevice& device) {
  FuzzOutcome outcome;
  TensorMap expected = c.outputs_before;
  const std::unique_ptr<Backend> reference = MakeReferenceBackend();
  if (const RunOutcome run = reference->Run(c, expected); run.status != RunStatus::kOk) {
    outcome.failure = "reference: " + run.message;
    return outcome;
  }
  const std::int64_t bytes = BytesWritten(c);
  const Variant variants[] = {
      {"aligned", 0, machine},
      {"again", 0, machine},
      {"one multiprocessor", 0, {1, machine.compute_major}},
      {"one multiprocessor, no clusters", 0, {1, 8}},
      {"no clusters", 0, {machine.multiprocessors, 8}},
      {"misaligned", 1, machine},
      {"misaligned, three multiprocessors", 1, {3, machine.compute_major}},
  };
  TensorMap inputs = c.inputs;
  for (const Variant& variant : variants) {
    TensorMap outputs = c.outputs_before;
    const AbiLaunch launch(c, inputs, outputs);
    // Misaligned fp32 scales or bf16 values are refused, and rightly: such a case keeps its cache aligned.
    Status status = device.arena.Upload(*launch.get(), variant.shift, device.stream);
    if (status.ok()) status = Launch(*device.arena.device_launch(), variant.machine, device.stream);
    if (status.code == StatusCode::kInvalid && variant.shift > 0 &&
        status.message.find("misaligns") != std::string::npos) {
      continue;
    }
    if (status.ok()) status = device.arena.Download(device.stream);
    outcome.failure = status.ok() ? Difference(expected, outputs) : status.message;
    if (!outcome.failure.empty()) {
      outcome.failure = fmt::format("{} ({})", outcome.failure, variant.name);
      return outcome;
    }
    ++outcome.launches;
    outcome.bytes += bytes;
  }
  return outcome;
}

std::string RunOnDevice(const Case& c, TensorMap& outputs, FuzzDevice& device) {
  TensorMap inputs = c.inputs;
  const AbiLaunch launch(c, inputs, outputs);
  Status status = device.arena.Upload(*launch.get(), 0, device.stream);
  if (status.ok()) status = Launch(*device.arena.device_launch(), device.stream);
  if (status.ok()) status = device.arena.Download(device.stream);
  return status.message;
}

}  // namespace kvexact::gpu
