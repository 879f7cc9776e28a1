// SPDX-License-Identifier: Apache-2.0
// Stores that are right but for some slots or addresses.
#include <algorithm>

#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"

namespace kvexact {
namespace {

using spec::PagedCache;

// Slots for which `kLost` holds are not stored.
using LostSlot = bool (*)(const PagedCache&, std::int64_t slot);
template <LostSlot kLost>
void Lose(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    if (!kLost(cache, slot)) BoundedStore(stages, token, cache, slot, bytes);
  };
}
bool LastOfPage(const PagedCache& cache, std::int64_t slot) {
  return cache.page_tokens > 1 && slot % cache.page_tokens == cache.page_tokens - 1;
}
bool LastPage(const PagedCache& cache, std::int64_t slot) { return slot / cache.page_tokens == cache.pages - 1; }
bool PageZero(const PagedCache& cache, std::int64_t slot) { return slot / cache.page_tokens == 0; }

// Stored where another slot belongs.
using OtherSlot = std::int64_t (*)(const PagedCache&, std::int64_t slot);
template <OtherSlot kOther>
void StoreElsewhere(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) { BoundedStore(stages, token, cache, kOther(cache, slot), bytes); };
}
std::int64_t PageAs8Bits(const PagedCache& cache, std::int64_t slot) {
  return slot / cache.page_tokens % 256 * cache.page_tokens + slot % cache.page_tokens;
}
std::int64_t TokenByMask(const PagedCache& cache, std::int64_t slot) {
  return slot / cache.page_tokens * cache.page_tokens + ((slot % cache.page_tokens) & (cache.page_tokens - 1));
}
std::int64_t TokensReversed(const PagedCache& cache, std::int64_t slot) {
  return slot / cache.page_tokens * cache.page_tokens + cache.page_tokens - 1 - slot % cache.page_tokens;
}
std::int64_t NextSlot(const PagedCache&, std::int64_t slot) { return slot + 1; }

// Some areas at other addresses.
using ChangePlace = void (*)(const PagedCache&, std::int64_t slot, TokenPlace&);
template <ChangePlace kChange>
void Displace(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    TokenPlace place = PlaceOf(cache, slot);
    kChange(cache, slot, place);
    StoreAt(stages, token, cache, place, bytes);
  };
}
std::int64_t Aligned(std::int64_t offset) { return offset & ~std::int64_t{15}; }
void CodesAligned(const PagedCache&, std::int64_t, TokenPlace& place) { place.codes = Aligned(place.codes); }
void ScalesOfNextToken(const PagedCache& cache, std::int64_t, TokenPlace& place) {
  place.scales += cache.layout.scale_stride;
}
void ScalesWithoutBase(const PagedCache& cache, std::int64_t, TokenPlace& place) { place.scales -= cache.base_offset; }
void ScalesFromPageEnd(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
  // Counted back from the end of the padded page.
  const std::int64_t page = cache.base_offset + slot / cache.page_tokens * cache.page_stride;
  place.scales = page + cache.page_stride - (cache.page_tokens - slot % cache.page_tokens) * cache.layout.scale_stride;
}
void CodesWithin64K(const PagedCache& cache, std::int64_t slot, TokenPlace& place) {
  const std::int64_t page = cache.base_offset + slot / cache.page_tokens * cache.page_stride;
  place.codes = page + ((place.codes - page) & 0xFFFF);
}
void ScalesBehind64Tokens(const PagedCache& cache, std::int64_t, TokenPlace& place) {
  place.scales += (64 - cache.page_tokens) * cache.layout.token_stride;
}

// A last vector of 16 bytes that reaches beyond the scales.
void ScalesAs16Bytes(Variant& v) {
  v.stages.store = [](const Stages& stages, const StoredToken& token, const PagedCache& cache, std::int64_t slot,
                      std::uint8_t* bytes) {
    BoundedStore(stages, token, cache, slot, bytes);
    const int used = cache.layout.scales() * cache.layout.scale_bytes() + cache.layout.pad_scales;
    const std::uint8_t zeros[16] = {};
    PutBytes(cache, bytes, cache.scales(slot) + used, zeros, 16 - used);
  };
}

constexpr Fault kRows[] = {
    {"store-last-of-page", "store", "the last token of a page is held for one beyond it", "a full page", kStores,
     &Lose<&LastOfPage>},
    {"store-last-page", "store", "the cache's last page is held for one beyond it", "a token in the last page", kStores,
     &Lose<&LastPage>},
    {"store-page-zero", "store", "page 0 is held for none", "a token in page 0", kStores, &Lose<&PageZero>},
    {"store-page-uint8", "store", "page numbers truncated to 8 bits", "256 pages", kStores,
     &StoreElsewhere<&PageAs8Bits>},
    {"store-token-mask", "store", "token within a page as slot & (page - 1)", "a page size that is no power of two",
     kStores, &StoreElsewhere<&TokenByMask>},
    {"store-tokens-reversed", "store", "tokens of a page in reverse order", "pages of two tokens", kStores,
     &StoreElsewhere<&TokensReversed>},
    {"store-slot-one-late", "store", "stored one slot on", "any", kStores, &StoreElsewhere<&NextSlot>},
    {"store-codes-aligned", "store", "address of the codes rounded down to 16 bytes", "a stride or base of 4 bytes",
     kStores, &Displace<&CodesAligned>},
    {"store-codes-uint16", "store", "offset of the codes within a page in 16 bits", "a page of more than 64 KB",
     kStores, &Displace<&CodesWithin64K>},
    {"store-scales-next-token", "store", "scales where the next token's belong", "any", kStores,
     &Displace<&ScalesOfNextToken>},
    {"store-scales-base", "store", "base offset ignored for the scales", "a base offset", kStores,
     &Displace<&ScalesWithoutBase>},
    {"store-scales-page-end", "store", "scales counted from the end of the padded page", "a padded page", kStores,
     &Displace<&ScalesFromPageEnd>},
    {"store-scales-behind-64", "store", "scales behind 64 tokens whatever the page holds", "another page size", kStores,
     &Displace<&ScalesBehind64Tokens>},
    {"store-scales-16-bytes", "store", "scales stored as 16 bytes, zeros over what follows", "any", kStores,
     &ScalesAs16Bytes},
};

}  // namespace

std::span<const Fault> StoreEdgeFaults() { return kRows; }

}  // namespace kvexact
