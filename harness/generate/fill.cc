// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/fill.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "harness/generate/counter_hash.h"
#include "harness/generate/exact_float.h"

namespace kvexact::generate {
namespace {

// Unread values repeat after so many elements.
constexpr std::size_t kTile = 1024;

std::array<float, kTile> TileOf(Unread unread, std::uint64_t stream) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::array<float, kTile> tile{};
  for (std::size_t i = 0; i < kTile; ++i) {
    const std::uint64_t random = At(stream, i);
    switch (unread) {
      case Unread::kNan:
        tile[i] = std::bit_cast<float>(0x7FC00000U);
        break;
      case Unread::kInf:
        tile[i] = Signed(kInfinity, random);
        break;
      case Unread::kValues:
        tile[i] = Bell(random);
        break;
    }
  }
  return tile;
}

}  // namespace

void FillUnread(Unread unread, std::uint64_t stream, std::span<float> values) {
  const std::array<float, kTile> tile = TileOf(unread, stream);
  while (!values.empty()) {
    const std::size_t count = std::min(values.size(), kTile);
    std::copy_n(tile.begin(), count, values.begin());
    values = values.subspan(count);
  }
}

void FillUnread(Unread unread, std::uint64_t stream, Tensor& tensor) {
  const auto size = static_cast<std::size_t>(tensor.elements());
  if (tensor.dtype() == DType::kF32) return FillUnread(unread, stream, std::span(tensor.as<float>(), size));
  const std::array<float, kTile> tile = TileOf(unread, stream);
  for (std::size_t i = 0; i < size; ++i) tensor.as<std::uint16_t>()[i] = Bf16Bits(tile[i % kTile]);
}

void FillBytes(std::uint64_t stream, Tensor& tensor) {
  std::span<std::uint8_t> bytes = tensor.byte_span();
  for (std::uint64_t i = 0; !bytes.empty(); ++i) {
    std::uint64_t word = At(stream, i);
    const std::size_t count = std::min(bytes.size(), sizeof word);
    for (std::uint8_t& byte : bytes.first(count)) {
      byte = static_cast<std::uint8_t>(word);
      word >>= 8;
    }
    bytes = bytes.subspan(count);
  }
}

void Store(std::span<const float> values, Tensor& tensor, std::int64_t first) {
  if (tensor.dtype() == DType::kF32) {
    std::copy(values.begin(), values.end(), tensor.as<float>() + first);
  } else {
    std::transform(values.begin(), values.end(), tensor.as<std::uint16_t>() + first, Bf16Bits);
  }
}

}  // namespace kvexact::generate
