// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/launch.h"

#include <algorithm>

namespace kvexact {

TwoStagePlan PlanTwoStage(const CompressInputs& in) {
  const std::int64_t decode = std::clamp<std::int64_t>(in.num_decode_tokens, 0, in.num_actual);
  return {decode, decode, in.num_actual};
}

}  // namespace kvexact
