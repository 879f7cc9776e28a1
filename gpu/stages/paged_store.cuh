// SPDX-License-Identifier: Apache-2.0
// Into the paged KV cache.
#pragma once

#include <cstdint>

#include "gpu/stages/arguments.cuh"
#include "gpu/stages/quantise.cuh"
#include "gpu/stages/rope.cuh"
#include "gpu/stages/shapes.cuh"

namespace kvexact::gpu {

// Where a token's codes, rotated values and scales start.
struct Placement {
  std::uint8_t* codes;
  std::uint8_t* rope;
  std::uint8_t* scales;
};

__device__ inline Placement Place(const CompressArguments& arguments, const spec::Layout& layout,
                                  std::int64_t kv_slot) {
  std::int64_t page;
  std::int64_t within;
  const std::int64_t page_tokens = arguments.placement.page_tokens;
  if (arguments.page_shift >= 0) {
    page = kv_slot >> arguments.page_shift;
    within = kv_slot & (page_tokens - 1);
  } else {
    page = kv_slot / page_tokens;
    within = kv_slot - page * page_tokens;
  }
  std::uint8_t* page_base = arguments.cache + arguments.placement.base_offset + page * arguments.placement.page_stride;
  std::uint8_t* token = page_base + within * layout.token_stride;
  std::uint8_t* scales =
      layout.scales_behind_page ? page_base + page_tokens * layout.token_stride + within * layout.scale_stride : token;
  return {token + layout.codes_offset, token + layout.rope_offset, scales + layout.scales_offset};
}

// Stores four normed columns of a token in the seed's sparse layout. All lanes of a warp together; a block of codes is
// 16 lanes.
__device__ inline void StoreSparse(const Placement& place, int column, const float4& n, const Rotation& rotation,
                                   bool writes) {
  constexpr spec::Layout kLayout = spec::kSparseAttnLayout;
  constexpr int kNope = kSparseHead - kRopeDim;
  const Quantised q = QuantiseFp8(RoundBf16(n), kLayout.quant_block / 4);
  if (!writes) return;
  if (column >= kNope) {
    const Bf16x4 r = RoundBf16(Rotate(rotation, n));
    *reinterpret_cast<uint2*>(place.rope + (column - kNope) * 2) = make_uint2(r.low, r.high);
    if (column == kNope) place.scales[kLayout.scales()] = 0;
  } else {
    *reinterpret_cast<std::uint32_t*>(place.codes + column) = q.codes;
    if (column % kLayout.quant_block == 0)
      place.scales[column / kLayout.quant_block] = static_cast<std::uint8_t>(q.scale_byte);
  }
}

// Stores a token of 128 rotated columns, four a lane, in one of the seed's indexer layouts.
template <bool kMxfp4>
__device__ inline void StoreIndexer(const Placement& place, int lane, const Bf16x4& x) {
  constexpr spec::Layout kLayout = kMxfp4 ? spec::kIndexerMxfp4Layout : spec::kIndexerFp8Layout;
  if constexpr (kMxfp4) {
    const Quantised q = QuantiseMxfp4(x, kLayout.quant_block / 4);
    reinterpret_cast<std::uint16_t*>(place.codes)[lane] = static_cast<std::uint16_t>(q.codes);
    if (lane % 8 == 0) place.scales[lane / 8] = static_cast<std::uint8_t>(q.scale_byte);
  } else {
    const Quantised q = QuantiseFp8(x, kLayout.quant_block / 4);
    reinterpret_cast<std::uint32_t*>(place.codes)[lane] = q.codes;
    // 2^e; an infinite scale has byte 255, whose float bits are infinity.
    if (lane == 0) *reinterpret_cast<std::uint32_t*>(place.scales) = q.scale_byte << 23;
  }
}

// The low `bytes` bytes of `value`, at any alignment.
__device__ inline void StoreBytes(std::uint8_t* to, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

// Stores four normed columns of a token in any layout, at any alignment. All lanes of a warp together; rotated values
// of the layout are the last columns, and where it has none all columns rotate and become codes.
__device__ inline void StoreAny(const Placement& place, const CompressArguments& arguments, int column, const float4& n,
                                const Rotation& rotation) {
  const spec::Layout& layout = arguments.placement.layout;
  const bool keeps_rope = layout.rope_values > 0;
  const bool mxfp4 = layout.code_type == spec::CodeType::kE2M1Nibble;
  const Bf16x4 rotated = RoundBf16(Rotate(rotation, n));
  const Bf16x4 x = keeps_rope ? RoundBf16(n) : rotated;
  const Quantised q = mxfp4 ? QuantiseMxfp4(x, layout.quant_block / 4) : QuantiseFp8(x, layout.quant_block / 4);
  if (column >= layout.code_values) {
    auto* to = reinterpret_cast<std::uint16_t*>(place.rope) + (column - layout.code_values);
    to[0] = static_cast<std::uint16_t>(rotated.low);
    to[1] = static_cast<std::uint16_t>(rotated.low >> 16);
    to[2] = static_cast<std::uint16_t>(rotated.high);
    to[3] = static_cast<std::uint16_t>(rotated.high >> 16);
    return;
  }
  StoreBytes(mxfp4 ? place.codes + column / 2 : place.codes + column, q.codes, mxfp4 ? 2 : 4);
  if (column % layout.quant_block == 0) {
    const int block = column / layout.quant_block;
    if (layout.scale_type == spec::ScaleType::kFp32Word) {
      reinterpret_cast<std::uint32_t*>(place.scales)[block] = q.scale_byte << 23;
    } else {
      place.scales[block] = static_cast<std::uint8_t>(q.scale_byte);
    }
  }
  if (column == 0) {
    std::uint8_t* pad = place.scales + layout.scales() * layout.scale_bytes();
    for (int i = 0; i < layout.pad_scales; ++i) pad[i] = 0;
  }
}

}  // namespace kvexact::gpu
