// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/locate.h"

namespace kvexact {

bool IsBoundary(std::int64_t position, std::int64_t ratio) {
  const std::int64_t rest = position % ratio;
  return rest == ratio - 1 || rest == -1;
}

bool Locate(const CompressInputs& in, std::int64_t index, LiveToken& token) {
  if (index >= in.num_actual || in.slot_mapping[index] < 0) return false;
  const std::int64_t position = in.positions[index];
  if (!IsBoundary(position, in.ratio)) return false;
  token.index = index;
  token.position = position;
  token.kv_slot = in.op == spec::Operation::kGatherSplit ? -1 : in.kv_slot_mapping[index];
  return true;
}

}  // namespace kvexact
