// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reference/operations/finalize.h"
#include "reference/operations/fused_compress.h"
#include "reference/operations/gather_split.h"
#include "reference/operations/two_stage.h"

namespace kvexact {

// A launch of any compression operation, through the launcher.
template <class A>
void RunCompress(const Stages& stages, const Policy& policy, const A& a, const CompressInputs& inputs,
                 const CompressOutputs& outputs) {
  CompressLaunch launch{inputs, outputs, {}, {}, {}};
  stages.launch(launch);
  const CompressInputs& in = launch.in;
  const CompressOutputs& out = launch.out;
  switch (in.op) {
    case spec::Operation::kTwoStage:
      TwoStage(stages, policy, a, in, out);
      return;
    case spec::Operation::kGatherSplit:
      GatherSplit(stages, a, in, 0, in.num_actual, [&](std::int64_t t, const typename A::Row& row) {
        float buffer[kMaxHeadDim];
        StoreScratchRow(ValuesOf(a, row, buffer), in.head_dim, out.scratch + t * out.scratch_stride);
      });
      return;
    case spec::Operation::kFinalize:
      Finalize(
          stages, policy, a, in, 0, in.num_actual,
          [&](std::int64_t t, typename A::Row& row) {
            a.Assign({in.scratch.row(t).data(), static_cast<std::size_t>(in.head_dim)}, row);
          },
          out);
      return;
    default:
      FusedCompress(stages, policy, a, in, 0, in.num_actual, out);
  }
}

}  // namespace kvexact
