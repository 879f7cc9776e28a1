// SPDX-License-Identifier: Apache-2.0
// Stages that stay within their tensors whatever a fault asks for.
#pragma once

#include <cstdint>

#include "reference/stages/stages.h"

namespace kvexact {

// The row of the state cache at `position` of a request's block table row, from `offset` elements into the row;
// zeros where the table or the cache has no such place.
const float* BoundedStateRow(const CompressInputs& in, std::int64_t request, std::int64_t position,
                             std::int64_t offset);
// The same for a block number that is not looked up.
const float* BoundedBlockRow(const CompressInputs& in, std::int64_t block, std::int64_t row, std::int64_t offset);

// The position of the window's first row; of a garbage position, some far one.
std::int64_t WindowStart(const CompressInputs& in, const LiveToken& token);
void BoundedGather(const CompressInputs& in, const LiveToken& token, Window& window);

// One window row a call: where row r of the window, at `position` >= 0, reads KV.
using RowOf = const float* (*)(const CompressInputs& in, const LiveToken& token, std::int64_t row,
                               std::int64_t position);
// Gather with the window's start, its masked rows as in the right one (position < 0) and the rows of `row_of`.
void GatherFrom(const CompressInputs& in, const LiveToken& token, std::int64_t start, std::int64_t rows, RowOf row_of,
                Window& window);
// The right row: through the request's block table, head offset by halves.
const float* RightRow(const CompressInputs& in, const LiveToken& token, std::int64_t row, std::int64_t position);
std::int64_t HeadOffset(const CompressInputs& in, std::int64_t row);

// `offset` elements from the table's first, as long as a row of rope_dim values lies within it; the last such
// place otherwise.
RopeAngles AnglesFrom(const RopeSite& site, std::int64_t offset);
// The compressions of head 128 turn the whole head, those of head 512 are larger.
inline bool IsQ(const RopeSite& site) { return !site.whole_head && site.head_dim != 512; }
RopeAngles BoundedAngles(const RopeSite& site);

// Bytes [offset, offset + size) of a cache, those that exist.
void PutBytes(const spec::PagedCache& cache, std::uint8_t* bytes, std::int64_t offset, const std::uint8_t* data,
              std::int64_t size);

// The three areas of a token, at offsets that the caller chooses.
struct TokenPlace {
  std::int64_t codes;
  std::int64_t scales;
  std::int64_t rope;
};
TokenPlace PlaceOf(const spec::PagedCache& cache, std::int64_t slot);
void StoreAt(const Stages& stages, const StoredToken& token, const spec::PagedCache& cache, const TokenPlace& place,
             std::uint8_t* bytes);
void BoundedStore(const Stages& stages, const StoredToken& token, const spec::PagedCache& cache, std::int64_t slot,
                  std::uint8_t* bytes);

}  // namespace kvexact
