// SPDX-License-Identifier: Apache-2.0
// The strict model behind the interface of an implementation under test.
#include "harness/backend/backend.h"
#include "reference/operations/finalize.h"
#include "reference/operations/fused_compress.h"
#include "reference/operations/gather_split.h"
#include "reference/operations/indexer_q.h"
#include "reference/operations/two_stage.h"

namespace kvexact {
namespace {

void RunCompress(const CompressInputs& in, const CompressOutputs& out) {
  const Stages& stages = SeedStages();
  const Policy& policy = SeedPolicy();
  switch (in.op) {
    case spec::Operation::kTwoStage:
      TwoStage(stages, policy, in, out);
      return;
    case spec::Operation::kGatherSplit:
      GatherSplit(stages, in, 0, in.num_actual, out.scratch, out.scratch_stride);
      return;
    case spec::Operation::kFinalize:
      Finalize(stages, policy, in, 0, in.num_actual, in.scratch.data(), in.scratch.outerStride(), out);
      return;
    default:
      FusedCompress(stages, policy, in, 0, in.num_actual, out);
  }
}

class ReferenceBackend final : public Backend {
 public:
  const BackendInfo& info() const override { return info_; }

  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    if (c.row().family == spec::Family::kIndexerQ) {
      const IndexerQBinding binding(c);
      IndexerQ(SeedStages(), SeedPolicy(), binding.inputs(), BindIndexerQOutputs(c, outputs));
    } else {
      const CompressBinding binding(c);
      RunCompress(binding.inputs(), BindCompressOutputs(c, outputs));
    }
    return {};
  }

 private:
  BackendInfo info_{"reference", "1", "CPU", "seed", true};
};

}  // namespace

std::unique_ptr<Backend> MakeReferenceBackend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace kvexact
