// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/operations/inputs.h"

namespace kvexact {

// A token that reaches a window boundary.
struct LiveToken {
  std::int64_t index = 0;  // in the launch's arrays
  std::int64_t position = 0;
  std::int64_t kv_slot = 0;  // as given; negative where the operation does not store it

  bool stored() const { return kv_slot >= 0; }
};

// Whether (position + 1) is a multiple of ratio, without overflow.
bool IsBoundary(std::int64_t position, std::int64_t ratio);

// The exits before the gather, in the order that decides what may be read: slot_mapping, then the
// boundary. Fills `token` and returns true if the token passes both. Tokens at or behind num_actual
// never do. kv_slot is read only where the operation has a KV slot mapping (not gather_split).
bool Locate(const CompressInputs& in, std::int64_t index, LiveToken& token);

}  // namespace kvexact
