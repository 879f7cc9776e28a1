// SPDX-License-Identifier: Apache-2.0
#include "harness/run/poison.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "harness/generate/counter_hash.h"

namespace kvexact {
namespace {

void FillRandom(std::span<std::uint8_t> bytes, std::uint64_t key) {
  static_assert(std::endian::native == std::endian::little);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t word = generate::At(key, i / sizeof word);
    std::memcpy(bytes.data() + i, &word, std::min(sizeof word, bytes.size() - i));
  }
}

}  // namespace

TensorMap Poisoned(const TensorMap& strict, const ByteRanges& written, const Poison& poison, std::uint64_t seed) {
  TensorMap filled;
  for (const auto& [name, tensor] : strict) {
    Tensor buffer = Tensor::Unfilled(tensor.dtype(), tensor.shape());
    FillRandom(buffer.byte_span(), generate::StreamKey(seed, {poison.stream, SeedOf(name)}));
    for (const ByteRange& range : written.find(name)->second) {
      for (std::int64_t i = range.begin; i < range.end; ++i) {
        buffer.bytes()[i] = static_cast<std::uint8_t>(tensor.bytes()[i] ^ poison.mask);
      }
    }
    filled.emplace(name, std::move(buffer));
  }
  return filled;
}

std::uint64_t SeedOf(std::string_view name) {
  std::uint64_t seed = 0;
  for (const char c : name) seed = generate::Mix(seed ^ static_cast<std::uint8_t>(c)) + 0x9E3779B97F4A7C15U;
  return seed;
}

}  // namespace kvexact
