// SPDX-License-Identifier: Apache-2.0
#include "property_tests/generate/digest.h"

#include <span>

namespace kvexact::test {
namespace {

class Fnv {
 public:
  void Add(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) value_ = (value_ ^ byte) * 1099511628211U;
  }
  void Add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      const auto byte = static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> shift);
      Add(std::span(&byte, 1));
    }
  }
  void Add(const TensorMap& tensors) {
    for (const auto& [name, tensor] : tensors) {
      for (const char c : name) Add(static_cast<std::int64_t>(c));
      Add(SizeOf(tensor.dtype()));
      for (const std::int64_t extent : tensor.shape()) Add(extent);
      Add(tensor.byte_span());
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 14695981039346656037U;
};

}  // namespace

std::uint64_t Digest(const Case& c) {
  Fnv fnv;
  fnv.Add(c.inputs);
  fnv.Add(c.outputs_before);
  return fnv.value();
}

}  // namespace kvexact::test
