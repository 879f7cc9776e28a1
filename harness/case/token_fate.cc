// SPDX-License-Identifier: Apache-2.0
#include "harness/case/token_fate.h"

namespace kvexact {
namespace {

// (position + 1) % ratio == 0, without the addition that overflows at the largest position.
bool EndsWindow(std::int64_t position, std::int64_t ratio) {
  const std::int64_t remainder = position % ratio;
  return remainder == ratio - 1 || remainder == -1;
}

}  // namespace

std::vector<TokenFate> TokenFates(const Case& c) {
  const Tensor& positions = c.inputs.at("positions");
  std::vector<TokenFate> fates(static_cast<std::size_t>(positions.elements()), TokenFate::kInert);
  const bool compress = c.row().family == spec::Family::kCompress;
  const std::int64_t* position = positions.as<std::int64_t>();
  const std::int64_t* slot = compress ? c.inputs.at("slot_mapping").as<std::int64_t>() : nullptr;
  const std::int64_t* kv_slot = c.row().layout ? c.inputs.at("kv_slot_mapping").as<std::int64_t>() : nullptr;
  for (std::int64_t token = 0; token < c.params.num_actual; ++token) {
    TokenFate& fate = fates[static_cast<std::size_t>(token)];
    if (slot != nullptr && slot[token] < 0) {
      fate = TokenFate::kNegativeSlot;
    } else if (compress && !EndsWindow(position[token], c.params.compress_ratio)) {
      fate = TokenFate::kNotBoundary;
    } else if (kv_slot != nullptr && kv_slot[token] < 0) {
      fate = TokenFate::kNegativeKvSlot;
    } else {
      fate = TokenFate::kLive;
    }
  }
  return fates;
}

}  // namespace kvexact
