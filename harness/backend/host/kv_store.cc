// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/host/kv_store.h"

#include <algorithm>
#include <cstring>

#include "harness/backend/host/bf16.h"
#include "harness/backend/host/block_scale.h"
#include "harness/backend/host/fp4.h"
#include "harness/backend/host/fp8.h"

namespace kvexact::host {
namespace {

// Stores the codes of one block; returns the exponent of its scale.
float StoreFp8Codes(const float* x, int n, std::uint8_t* codes) {
  const float exponent = CeilLog2(AbsMax(x, n, 1e-4F) * (1.0F / 448.0F));
  const float inverse = Pow2(-exponent);
  for (int i = 0; i < n; ++i) codes[i] = EncodeClampedE4M3Fn(x[i] * inverse);
  return exponent;
}

float StoreFp4Codes(const float* x, int n, std::uint8_t* codes) {
  const float wanted = CeilLog2(AbsMax(x, n, 6.0F * 0x1p-126F) * (1.0F / 6.0F));
  const float exponent = std::clamp(wanted, -127.0F, 127.0F);
  const float inverse = Pow2(-exponent);
  for (int i = 0; i < n; i += 2) codes[i / 2] = PackE2M1(x[i] * inverse, x[i + 1] * inverse);
  return exponent;
}

void StoreScale(float exponent, spec::ScaleType type, std::uint8_t* to) {
  if (type == spec::ScaleType::kUe8m0Byte) {
    *to = Ue8m0(exponent);
  } else {
    const float scale = Pow2(exponent);
    std::memcpy(to, &scale, sizeof scale);
  }
}

}  // namespace

TokenArea AreaOf(const spec::PagedCache& cache, std::uint8_t* cache_bytes, std::int64_t slot) {
  const spec::Layout& layout = cache.layout;
  const std::int64_t in_page = slot % cache.page_tokens;
  std::uint8_t* page = cache_bytes + cache.base_offset + slot / cache.page_tokens * cache.page_stride;
  std::uint8_t* token = page + in_page * layout.token_stride;
  std::uint8_t* scales = layout.scales_behind_page
                             ? page + cache.page_tokens * layout.token_stride + in_page * layout.scale_stride
                             : token;
  return {token + layout.codes_offset, token + layout.rope_offset, scales + layout.scales_offset};
}

void StoreQuantised(const float* values, const spec::Layout& layout, const TokenArea& area) {
  const bool fp4 = layout.code_type == spec::CodeType::kE2M1Nibble;
  const int block = layout.quant_block;
  const int block_code_bytes = fp4 ? block / 2 : block;
  const int scale_bytes = layout.scale_type == spec::ScaleType::kFp32Word ? 4 : 1;
  std::uint8_t* scale = area.scales;
  for (int b = 0; b < layout.code_values / block; ++b) {
    const float* x = values + b * block;
    std::uint8_t* codes = area.codes + b * block_code_bytes;
    const float exponent = fp4 ? StoreFp4Codes(x, block, codes) : StoreFp8Codes(x, block, codes);
    StoreScale(exponent, layout.scale_type, scale);
    scale += scale_bytes;
  }
  std::fill_n(scale, layout.pad_scales, std::uint8_t{0});
}

void StoreRope(const float* values, std::int64_t n, const TokenArea& area) {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint16_t bits = ToBf16(values[i]);
    std::memcpy(area.rope + 2 * i, &bits, sizeof bits);
  }
}

}  // namespace kvexact::host
