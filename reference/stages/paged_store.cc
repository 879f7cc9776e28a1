// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/paged_store.h"

#include <cstring>

#include "reference/formats/e2m1.h"
#include "reference/stages/stages.h"

namespace kvexact {

void PackPairs(std::span<const std::uint8_t> nibbles, std::uint8_t* bytes) {
  const std::uint8_t* x = nibbles.data();
  for (std::size_t i = 0, n = nibbles.size() / 2; i < n; ++i) bytes[i] = PackNibbles(x[2 * i], x[2 * i + 1]);
}

void PagedStore(const Stages& stages, const StoredToken& token, const spec::PagedCache& cache, std::int64_t slot,
                std::uint8_t* bytes) {
  const spec::Layout& layout = cache.layout;
  std::uint8_t* codes = bytes + cache.codes(slot);
  if (layout.code_type == spec::CodeType::kE2M1Nibble) {
    stages.pack({token.codes, static_cast<std::size_t>(layout.code_values)}, codes);
  } else {
    std::memcpy(codes, token.codes, static_cast<std::size_t>(layout.code_values));
  }
  std::uint8_t* scales = bytes + cache.scales(slot);
  const int size = layout.scale_bytes();
  for (int i = 0; i < layout.scales(); ++i) {
    // Little-endian: the low bytes of the word are the stored scale.
    for (int b = 0; b < size; ++b) scales[i * size + b] = static_cast<std::uint8_t>(token.scales[i] >> (8 * b));
  }
  std::memset(scales + layout.scales() * size, 0, static_cast<std::size_t>(layout.pad_scales));
  std::uint8_t* rope = bytes + cache.rope(slot);
  for (int i = 0; i < layout.rope_values; ++i) {
    rope[2 * i] = static_cast<std::uint8_t>(token.rope[i]);
    rope[2 * i + 1] = static_cast<std::uint8_t>(token.rope[i] >> 8);
  }
}

}  // namespace kvexact
