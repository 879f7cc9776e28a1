// SPDX-License-Identifier: Apache-2.0
// What the output buffers hold before a run, so that an element that was not written shows.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/case/case.h"
#include "harness/judge/written_bytes.h"

namespace kvexact {

// How one fill differs from the others of a case.
struct Poison {
  std::uint8_t mask;     // written bytes hold the strict model's output XOR this
  std::uint64_t stream;  // names the random bytes that fill the rest
};

// No byte or nibble is the same under both, and neither is the strict model's. Either mask moves a code's sign or its
// top magnitude bits, so the poison lies outside all but very wide allowed sets.
inline constexpr Poison kFirstPoison{0xC3, 1};
inline constexpr Poison kSecondPoison{0x3C, 2};

// Buffers of the shapes of `strict`: written bytes as the poison says, every other byte random. The random bytes are a
// pure function of seed, stream, buffer name and offset.
TensorMap Poisoned(const TensorMap& strict, const ByteRanges& written, const Poison& poison, std::uint64_t seed);

// The seed that a case's name gives.
std::uint64_t SeedOf(std::string_view name);

}  // namespace kvexact
