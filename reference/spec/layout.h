// SPDX-License-Identifier: Apache-2.0
// Where a token's codes, scales and RoPE values lie in a paged KV cache: rows of data.
// Source of the three built-in rows: the layouts that the seed kernels document.
#pragma once

#include <cstdint>

namespace kvexact::spec {

enum class CodeType : std::uint8_t { kE4M3Byte, kE2M1Nibble };
enum class ScaleType : std::uint8_t { kUe8m0Byte, kFp32Word };

// A page holds `page_tokens` tokens (a parameter of the case, not of the row). All byte offsets of
// token t of a page, from the page's first byte:
//   codes   t * token_stride + codes_offset
//   RoPE    t * token_stride + rope_offset            (bf16, rope_values of them; none if 0)
//   scales  page_tokens * token_stride + t * scale_stride + scales_offset
// so scales stand behind all tokens of the page. An interleaved cache is a row with
// `scales_behind_page` false: its scales are at t * token_stride + scales_offset.
struct Layout {
  const char* name;
  CodeType code_type;
  int code_values;  // quantised elements a token
  int quant_block;  // elements that share a scale
  ScaleType scale_type;
  int token_stride;  // bytes
  int codes_offset;  // bytes
  int rope_values;
  int rope_offset;    // bytes
  int scale_stride;   // bytes
  int scales_offset;  // bytes
  bool scales_behind_page;
  int pad_scales;  // zero bytes written behind a token's scales

  constexpr int scales() const { return code_values / quant_block; }
  constexpr int scale_bytes() const { return scale_type == ScaleType::kFp32Word ? 4 : 1; }
  constexpr int code_bytes() const { return code_type == CodeType::kE2M1Nibble ? code_values / 2 : code_values; }
};

inline constexpr Layout kSparseAttnLayout{
    "sparse_attn", CodeType::kE4M3Byte, 448, 64, ScaleType::kUe8m0Byte, 576, 0, 64, 448, 8, 0, true, 1};
inline constexpr Layout kIndexerFp8Layout{
    "indexer_fp8", CodeType::kE4M3Byte, 128, 128, ScaleType::kFp32Word, 128, 0, 0, 0, 4, 0, true, 0};
inline constexpr Layout kIndexerMxfp4Layout{
    "indexer_mxfp4", CodeType::kE2M1Nibble, 128, 32, ScaleType::kUe8m0Byte, 64, 0, 0, 0, 4, 0, true, 0};

inline constexpr const Layout* kLayouts[] = {&kSparseAttnLayout, &kIndexerFp8Layout, &kIndexerMxfp4Layout};

// The placement of a cache: a Layout row and what varies from cache to cache.
// Page of KV slot s: s / page_tokens; token within it: s % page_tokens.
struct PagedCache {
  Layout layout;
  std::int64_t page_tokens;  // kv_cache_block_size
  std::int64_t page_stride;  // bytes from page to page, padding included
  std::int64_t base_offset;  // bytes before page 0
  std::int64_t pages;

  constexpr std::int64_t token_base(std::int64_t slot) const {
    return base_offset + slot / page_tokens * page_stride + slot % page_tokens * layout.token_stride;
  }
  constexpr std::int64_t codes(std::int64_t slot) const { return token_base(slot) + layout.codes_offset; }
  constexpr std::int64_t rope(std::int64_t slot) const { return token_base(slot) + layout.rope_offset; }
  constexpr std::int64_t scales(std::int64_t slot) const {
    if (!layout.scales_behind_page) return token_base(slot) + layout.scales_offset;
    return base_offset + slot / page_tokens * page_stride + page_tokens * layout.token_stride +
           slot % page_tokens * layout.scale_stride + layout.scales_offset;
  }
  // Bytes of a page that tokens and scales occupy; the stride is at least this.
  constexpr std::int64_t page_used() const {
    return page_tokens * (layout.token_stride + (layout.scales_behind_page ? layout.scale_stride : 0));
  }
};

}  // namespace kvexact::spec
