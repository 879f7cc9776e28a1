// SPDX-License-Identifier: Apache-2.0
#include "harness/case/check_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "harness/case/token_fate.h"

namespace kvexact {
namespace {

template <class... Args>
[[noreturn]] void Fail(const Case& c, std::string field, fmt::format_string<Args...> what, Args&&... args) {
  throw InputError(c.name, std::move(field), fmt::format(what, std::forward<Args>(args)...));
}

// The test for a window's end adds one to every position that it sees.
void CheckExitTest(const Case& c, std::int64_t token) {
  if (c.inputs.at("slot_mapping").as<std::int64_t>()[token] < 0) return;
  if (c.inputs.at("positions").as<std::int64_t>()[token] == std::numeric_limits<std::int64_t>::max()) {
    Fail(c, "positions", "token {}: position + 1 overflows", token);
  }
}

void CheckPosition(const Case& c, std::int64_t token, std::int64_t position) {
  if (position < 0) Fail(c, "positions", "token {} is at {}, which is negative", token, position);
}

void CheckTableRow(const Case& c, std::int64_t token, std::int64_t row) {
  const std::int64_t rows = c.inputs.at("cos_sin_cache").dim(0);
  if (row >= rows) Fail(c, "positions", "token {} needs row {} of cos_sin_cache, which has {}", token, row, rows);
}

// Request, block table row and state blocks of the window that ends at `position`.
void CheckWindowEntries(const Case& c, std::int64_t token, std::int64_t position) {
  const Params& p = c.params;
  const Tensor& table = c.inputs.at("block_table");
  const std::int64_t blocks = c.inputs.at("state_cache").dim(0);
  const std::int64_t request = c.inputs.at("token_to_req_indices").as<std::int32_t>()[token];
  if (request < 0 || request >= table.dim(0)) {
    Fail(c, "token_to_req_indices", "token {} names request {}, block_table has {}", token, request, table.dim(0));
  }
  const std::int64_t rows = p.compress_ratio * (p.overlap ? 2 : 1);
  const std::int64_t first = std::max<std::int64_t>(position - rows + 1, 0) / p.block_size;
  const std::int64_t last = position / p.block_size;
  if (last >= table.dim(1)) {
    Fail(c, "block_table", "token {} at {} needs column {}, rows hold {}", token, position, last, table.dim(1));
  }
  const std::int32_t* entries = table.as<std::int32_t>() + request * table.dim(1);
  for (std::int64_t column = first; column <= last; ++column) {
    const std::int64_t block = entries[column];
    if (block < 0 || block >= blocks) {
      Fail(c, "block_table", "entry [{}, {}], read by token {}, is {}, state_cache has {} blocks", request, column,
           token, block, blocks);
    }
  }
}

void CheckKvSlots(const Case& c, const std::vector<TokenFate>& fates) {
  const spec::PagedCache cache = CacheOf(c);
  const std::int64_t slots = cache.pages * cache.page_tokens;  // page_tokens bytes fit a page, so this fits
  const std::int64_t* kv_slot = c.inputs.at("kv_slot_mapping").as<std::int64_t>();
  std::vector<std::pair<std::int64_t, std::int64_t>> stored;  // slot, token
  for (std::size_t token = 0; token < fates.size(); ++token) {
    if (fates[token] != TokenFate::kLive) continue;
    if (kv_slot[token] >= slots) {
      Fail(c, "kv_slot_mapping", "token {} stores to slot {}, the cache has {}", token, kv_slot[token], slots);
    }
    stored.emplace_back(kv_slot[token], static_cast<std::int64_t>(token));
  }
  std::sort(stored.begin(), stored.end());
  for (std::size_t i = 1; i < stored.size(); ++i) {
    if (stored[i].first != stored[i - 1].first) continue;
    Fail(c, "kv_slot_mapping", "tokens {} and {} both store to slot {}", stored[i - 1].second, stored[i].second,
         stored[i].first);
  }
}

}  // namespace

void CheckCompressEntries(const Case& c) {
  const Params& p = c.params;
  const std::vector<TokenFate> fates = TokenFates(c);
  const std::int64_t* positions = c.inputs.at("positions").as<std::int64_t>();
  // Stage 1 of the split path gathers before anything looks at the KV slot.
  const std::int64_t first_split = c.op == spec::Operation::kTwoStage
                                       ? std::clamp<std::int64_t>(p.num_decode_tokens, 0, p.num_actual)
                                       : p.num_actual;
  for (std::int64_t token = 0; token < p.num_actual; ++token) {
    CheckExitTest(c, token);
    const TokenFate fate = fates[static_cast<std::size_t>(token)];
    const bool stores = fate == TokenFate::kLive;
    const bool gathers = stores || (fate == TokenFate::kNegativeKvSlot && token >= first_split);
    if (!gathers) continue;
    const std::int64_t position = positions[token];
    CheckPosition(c, token, position);
    if (c.row().reads_state) CheckWindowEntries(c, token, position);
    if (stores && c.row().layout != nullptr) {
      CheckTableRow(c, token, position / p.compress_ratio * p.compress_ratio);
    }
  }
  if (c.row().layout != nullptr) CheckKvSlots(c, fates);
}

void CheckIndexerQEntries(const Case& c) {
  const std::int64_t* positions = c.inputs.at("positions").as<std::int64_t>();
  for (std::int64_t token = 0; token < c.params.num_actual; ++token) {
    CheckPosition(c, token, positions[token]);
    CheckTableRow(c, token, positions[token]);
  }
}

}  // namespace kvexact
