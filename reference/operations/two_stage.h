// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "reference/operations/finalize.h"
#include "reference/operations/fused_compress.h"
#include "reference/operations/gather_split.h"

namespace kvexact {

// Decode tokens in one pass, the others through gather_split and finalize, as stages.plan divides them.
// Scratch is private: a row a token of the split path, zero before.
// Source: compress_norm_rope_store_two_stage_triton.
template <class A>
void TwoStage(const Stages& stages, const Policy& policy, const A& a, const CompressInputs& in,
              const CompressOutputs& out) {
  const TwoStagePlan plan = stages.plan(in);
  std::vector<typename A::Row> scratch(static_cast<std::size_t>(std::max<std::int64_t>(plan.last - plan.first, 0)));
  const auto row_of = [&](std::int64_t t) ->
      typename A::Row& { return scratch[static_cast<std::size_t>(t - plan.first)]; };
  for (typename A::Row& row : scratch) row.columns = static_cast<int>(in.head_dim);
  GatherSplit(stages, a, in, plan.first, plan.last,
              [&](std::int64_t t, const typename A::Row& row) { row_of(t) = row; });
  Finalize(
      stages, policy, a, in, plan.first, plan.last, [&](std::int64_t t, typename A::Row& row) { row = row_of(t); },
      out);
  FusedCompress(stages, policy, a, in, 0, plan.decode, out);
}

}  // namespace kvexact
