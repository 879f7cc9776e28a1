// SPDX-License-Identifier: Apache-2.0
// From values to what is stored: rounding to bf16, the block exponent and the codes, in integers.
// Shares nothing with reference/formats.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "property_tests/oracle/token_inputs.h"
#include "property_tests/oracle/wide.h"

namespace kvexact::oracle {

// Nearest even, one rounding of the value given; NaN is 0x7FFF.
std::uint16_t Bf16Of(const Wide& x);
std::uint16_t Bf16Of(float x);

// Nearest even to fp32; overflow is infinite.
float Fp32Of(const Wide& x);

inline constexpr int kInfiniteExponent = std::numeric_limits<int>::max();

// How a block is quantised: divisor, floor, format and what NaN becomes.
enum class BlockCode : std::uint8_t {
  kCompressE4M3,  // floor fp32(1e-4), 448, NaN is 0x7E
  kQE4M3,         // floor fp32(1e-4), 448, NaN is 0x7F
  kQE4M3Fnuz,     // floor fp32(1e-4), 224, NaN is 0x80, no negative zero
  kE2M1,          // floor 6 * 2^-126, 6, exponent in [-127, 127], NaN is nibble 7
};

struct StoredBlock {
  int exponent = 0;                 // of the power of two; kInfiniteExponent where absmax is infinite
  std::vector<std::uint8_t> codes;  // one an element, nibbles unpacked
};

// The factor 2^-127 of an MXFP4 block with an infinity, a subnormal.
enum class SmallestFactor : std::uint8_t { kKept, kFlushed };

StoredBlock QuantiseBlock(std::span<const std::uint16_t> bf16, BlockCode code,
                          SmallestFactor smallest = SmallestFactor::kKept);

// UE8M0 byte of a block exponent.
std::uint8_t Ue8m0Of(int exponent);
// 2^exponent, infinite for kInfiniteExponent.
float PowerOfTwo(int exponent);

struct StoredToken {
  std::vector<std::uint16_t> quantised;  // bf16 values that were quantised
  std::vector<StoredBlock> blocks;
  std::vector<std::uint16_t> rope;  // head 512: stored bf16 values
};

// `normed` and `rotated` in bf16, [head_dim]; which of them is quantised depends on the operation.
StoredToken StoreToken(spec::Operation op, std::span<const std::uint16_t> normed,
                       std::span<const std::uint16_t> rotated, SmallestFactor smallest = SmallestFactor::kKept);

struct StoredQ {
  std::vector<std::uint16_t> values;  // bf16 [head_dim]
  std::vector<StoredBlock> blocks;    // one (FP8) or head_dim / 32 (MXFP4)
};

StoredQ StoreQ(QKind kind, std::span<const std::uint16_t> values);

}  // namespace kvexact::oracle
