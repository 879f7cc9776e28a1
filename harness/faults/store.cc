// SPDX-License-Identifier: Apache-2.0
// Where the stored elements of a token lie in the paged cache.
#include <algorithm>

#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"

namespace kvexact {
namespace {

using spec::PagedCache;

// Another description of the cache.
template <class Change>
void ChangeCache(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    if (spec::row(launch.in.op).layout == nullptr) return;
    // The tensor ends where it did.
    PagedCache& cache = launch.out.cache;
    const std::int64_t end = cache.pages * cache.page_stride;
    Change::Of(cache);
    cache.pages = end / cache.page_stride;
  };
}
struct Interleaved {
  static void Of(PagedCache& cache) {
    cache.layout.scales_behind_page = false;
    cache.layout.scales_offset += cache.layout.token_stride;
    cache.layout.token_stride += cache.layout.scale_stride;
  }
};
struct ScalesWithinStride {
  static void Of(PagedCache& cache) {
    cache.layout.scales_behind_page = false;
    cache.layout.scales_offset += cache.layout.token_stride;
  }
};
struct Unpadded {
  static void Of(PagedCache& cache) { cache.page_stride = std::max<std::int64_t>(cache.page_used(), 1); }
};
struct NoBase {
  static void Of(PagedCache& cache) { cache.base_offset = 0; }
};
struct RopeAt512 {
  static void Of(PagedCache& cache) { cache.layout.rope_offset = 512; }
};
struct RopeFirst {
  static void Of(PagedCache& cache) {
    cache.layout.codes_offset += 2 * cache.layout.rope_values;
    cache.layout.rope_offset = 0;
  }
};
struct PackedScales {
  static void Of(PagedCache& cache) { cache.layout.scale_stride = cache.layout.scales() * cache.layout.scale_bytes(); }
};
struct SevenScales {
  static void Of(PagedCache& cache) {
    if (cache.layout.rope_values > 0) cache.layout.scale_stride -= 1;
  }
};
struct PackedTokens {
  static void Of(PagedCache& cache) {
    cache.layout.token_stride = cache.layout.code_bytes() + 2 * cache.layout.rope_values;
  }
};
struct OneTokenMore {
  static void Of(PagedCache& cache) { cache.page_tokens += 1; }
};
struct PagesOf64 {
  static void Of(PagedCache& cache) { cache.page_tokens = 64; }
};
struct NoPad {
  static void Of(PagedCache& cache) { cache.layout.pad_scales = 0; }
};
struct WidePad {
  static void Of(PagedCache& cache) { cache.layout.pad_scales += 1; }
};

// Another place of one token.
template <class Change>
void ChangePlace(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    TokenPlace place = PlaceOf(cache, slot);
    Change::Of(cache, slot, place);
    StoreAt(stages, token, cache, place, bytes);
  };
}
// Pages laid one behind the other as if all were the first page's.
struct ScalesOfFirstPage {
  static void Of(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
    place.scales = cache.scales(slot % cache.page_tokens);
  }
};
struct ScalesBySlot {
  static void Of(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
    place.scales += slot / cache.page_tokens * cache.page_tokens * cache.layout.scale_stride;
  }
};
struct ScalesBehindTokens {
  // As if the page held only the tokens up to this one.
  static void Of(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
    place.scales = cache.token_base(slot) + cache.layout.token_stride;
  }
};
struct ScalesAtPage {
  static void Of(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
    place.scales = cache.base_offset + slot / cache.page_tokens * cache.page_stride +
                   slot % cache.page_tokens * cache.layout.scale_stride;
  }
};
struct SlotModulo {
  static void Of(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
    place = PlaceOf(cache, slot % cache.page_tokens);
  }
};
struct PageForSlot {
  static void Of(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
    place = PlaceOf(cache, slot / cache.page_tokens * cache.page_tokens);
  }
};
struct PageAndTokenSwapped {
  static void Of(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
    const std::int64_t page = slot % cache.page_tokens % std::max<std::int64_t>(cache.pages, 1);
    place = PlaceOf(cache, page * cache.page_tokens + slot / cache.page_tokens % cache.page_tokens);
  }
};

// Another token at the right place.
template <class Change>
void ChangeToken(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    StoredToken changed = token;
    Change::Of(cache.layout, changed);
    BoundedStore(stages, changed, cache, slot, bytes);
  };
}
struct RopeBytesSwapped {
  static void Of(const spec::Layout& layout, StoredToken& token) {
    for (int i = 0; i < layout.rope_values; ++i) {
      token.rope[i] = static_cast<std::uint16_t>(token.rope[i] << 8 | token.rope[i] >> 8);
    }
  }
};
struct RopeAsFp16 {
  static void Of(const spec::Layout& layout, StoredToken& token) {
    for (int i = 0; i < layout.rope_values; ++i) {
      // bf16 bits to fp16 bits, exponent re-biased, three mantissa bits added.
      const int exponent = (token.rope[i] >> 7 & 0xFF) - 112;
      const int magnitude = exponent <= 0 ? 0 : exponent >= 31 ? 0x7C00 : exponent << 10 | (token.rope[i] & 0x7F) << 3;
      token.rope[i] = static_cast<std::uint16_t>((token.rope[i] & 0x8000) | magnitude);
    }
  }
};
struct MinusZeroNormalised {
  static void Of(const spec::Layout& layout, StoredToken& token) {
    const std::uint8_t minus_zero = layout.code_type == spec::CodeType::kE2M1Nibble ? 8 : 0x80;
    for (int i = 0; i < layout.code_values; ++i) {
      if (token.codes[i] == minus_zero) token.codes[i] = 0;
    }
    for (int i = 0; i < layout.rope_values; ++i) {
      if (token.rope[i] == 0x8000) token.rope[i] = 0;
    }
  }
};

// Some of a token is not stored.
template <class Change>
void LeaveOut(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    PagedCache part = cache;
    Change::Of(part.layout);
    StoreAt(stages, token, part, PlaceOf(cache, slot), bytes);
  };
}
struct LastScale {
  static void Of(spec::Layout& layout) {
    // The last block stays, its scale does not: one scale fewer, and no pad behind it.
    layout.code_values -= layout.quant_block;
    layout.pad_scales = 0;
  }
};
struct LastRope {
  static void Of(spec::Layout& layout) { layout.rope_values -= 1; }
};
struct NoRope {
  static void Of(spec::Layout& layout) { layout.rope_values = 0; }
};

void OnlyLastScaleMissing(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    const std::int64_t end = cache.pages * cache.page_stride;
    const int size = cache.layout.scale_bytes();
    const std::int64_t last = cache.scales(slot) + (cache.layout.scales() - 1) * size;
    std::uint8_t kept[4] = {};
    const bool inside = last >= 0 && last + size <= end;
    if (inside) std::copy_n(bytes + last, size, kept);
    BoundedStore(stages, token, cache, slot, bytes);
    if (inside) std::copy_n(kept, size, bytes + last);
  };
}

// The whole head is quantised and stored, over the first bytes of the RoPE values.
void CodesOverRope(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    BoundedStore(stages, token, cache, slot, bytes);
    if (cache.layout.rope_values != 64) return;
    std::uint8_t codes[64] = {};
    for (int i = 0; i < 64; ++i) codes[i] = static_cast<std::uint8_t>(token.rope[i] >> 8);
    PutBytes(cache, bytes, cache.codes(slot) + cache.layout.code_values, codes, 64);
  };
}

// The scale of the RoPE values, which are not quantised, in place of the pad.
void EighthScale(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    BoundedStore(stages, token, cache, slot, bytes);
    std::uint16_t most = 0;
    for (int i = 0; i < cache.layout.rope_values; ++i) {
      most = std::max(most, static_cast<std::uint16_t>(token.rope[i] & 0x7FFF));
    }
    const auto scale = static_cast<std::uint8_t>(std::max((most >> 7) - 8, 0));
    PutBytes(cache, bytes, cache.scales(slot) + cache.layout.scales(), &scale, cache.layout.pad_scales);
  };
}

// Zeros behind a token's scales, up to the next token's.
void ClearsPadding(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    BoundedStore(stages, token, cache, slot, bytes);
    const std::int64_t page = cache.base_offset + slot / cache.page_tokens * cache.page_stride;
    const std::uint8_t zeros[64] = {};
    const std::int64_t used = cache.page_used();
    PutBytes(cache, bytes, page + used, zeros,
             std::min<std::int64_t>(64, cache.page_stride - used - cache.base_offset));
  };
}

constexpr Fault kRows[] = {
    {"store-interleaved-scales", "store", "scales behind each token, not behind the page's tokens", "token 1 of a page",
     kStores, &ChangeCache<Interleaved>},
    {"store-scales-in-stride", "store", "scales behind each token, over the next one's codes", "any", kStores,
     &ChangeCache<ScalesWithinStride>},
    {"store-scales-behind-token", "store", "scales behind the token, as if it were the page's last",
     "two tokens a page", kStores, &ChangePlace<ScalesBehindTokens>},
    {"store-scales-first-page", "store", "scales of every page in the first page", "a second page", kStores,
     &ChangePlace<ScalesOfFirstPage>},
    {"store-scales-by-slot", "store", "scales at the slot, not at the token within the page", "a second page", kStores,
     &ChangePlace<ScalesBySlot>},
    {"store-scales-at-page", "store", "scales at the page's start", "any", kStores, &ChangePlace<ScalesAtPage>},
    {"store-page-unpadded", "store", "page stride without padding", "second page, padded stride", kStores,
     &ChangeCache<Unpadded>},
    {"store-base-offset", "store", "the cache's base offset ignored", "a base offset", kStores, &ChangeCache<NoBase>},
    {"store-page-tokens", "store", "one token more a page", "any", kStores, &ChangeCache<OneTokenMore>},
    {"store-pages-of-64", "store", "64 tokens a page whatever the cache holds", "another page size", kStores,
     &ChangeCache<PagesOf64>},
    {"store-slot-modulo", "store", "the page of the slot ignored", "a second page", kStores, &ChangePlace<SlotModulo>},
    {"store-page-only", "store", "the token within the page ignored", "token 1 of a page", kStores,
     &ChangePlace<PageForSlot>},
    {"store-page-token-swapped", "store", "page and token within it swapped", "a second page", kStores,
     &ChangePlace<PageAndTokenSwapped>},
    {"store-scale-stride", "store", "scale stride without the pad", "token 1 of a page, padded scales", kStores,
     &ChangeCache<PackedScales>},
    {"store-scale-stride-7", "store", "scale stride one byte short", "token 1 of a page", kHead512Stores,
     &ChangeCache<SevenScales>},
    {"store-token-stride", "store", "token stride without the pad", "token 1 of a page, padded tokens", kStores,
     &ChangeCache<PackedTokens>},
    {"store-pad-byte", "store", "the eighth scale byte not written", "buffer full of 0xFF", kHead512Stores,
     &ChangeCache<NoPad>},
    {"store-eighth-scale", "store", "a scale of the RoPE values in the eighth byte", "any", kHead512Stores,
     &EighthScale},
    {"store-pad-wide", "store", "one zero byte more behind the scales", "any", kStores, &ChangeCache<WidePad>},
    {"store-clears-padding", "store", "clears the page's padding", "a padded page", kStores, &ClearsPadding},
    {"store-last-scale", "store", "the last block's scale not written", "any", kStores, &OnlyLastScaleMissing},
    {"store-last-block", "store", "the last block not written", "any", kStores, &LeaveOut<LastScale>},
    {"store-rope-offset", "store", "bf16 area at 512 instead of 448 bytes", "any", kHead512Stores,
     &ChangeCache<RopeAt512>},
    {"store-rope-first", "store", "bf16 area before the codes", "any", kHead512Stores, &ChangeCache<RopeFirst>},
    {"store-rope-missing", "store", "rotated values not written", "any", kHead512Stores, &LeaveOut<NoRope>},
    {"store-rope-last", "store", "the last rotated value not written", "any", kHead512Stores, &LeaveOut<LastRope>},
    {"store-codes-over-rope", "store", "64 codes more than the layout has, over the rotated values", "any",
     kHead512Stores, &CodesOverRope},
    {"store-rope-big-endian", "store", "rotated values with their bytes swapped", "any", kHead512Stores,
     &ChangeToken<RopeBytesSwapped>},
    {"store-rope-fp16", "store", "rotated values stored as fp16", "any", kHead512Stores, &ChangeToken<RopeAsFp16>},
    {"store-minus-zero", "store", "-0 stored as +0", "a small negative value", kStores,
     &ChangeToken<MinusZeroNormalised>},
};

}  // namespace

std::span<const Fault> StoreFaults() { return kRows; }

}  // namespace kvexact
