// SPDX-License-Identifier: Apache-2.0
// The strict model behind the interface of an implementation under test.
#include "harness/backend/backend.h"
#include "reference/operations/indexer_q.h"
#include "reference/operations/run_compress.h"

namespace kvexact {
namespace {

class ReferenceBackend final : public Backend {
 public:
  const BackendInfo& info() const override { return info_; }

  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    if (c.row().family == spec::Family::kIndexerQ) {
      const IndexerQBinding binding(c);
      IndexerQ(SeedStages(), SeedPolicy(), binding.inputs(), BindIndexerQOutputs(c, outputs));
    } else {
      const CompressBinding binding(c);
      RunCompress(SeedStages(), SeedPolicy(), Strict(), binding.inputs(), BindCompressOutputs(c, outputs));
    }
    return {};
  }

 private:
  BackendInfo info_{
      .name = "reference", .version = "1", .device = "CPU", .policy = "seed", .bit_exact = true, .concurrent = true};
};

}  // namespace

std::unique_ptr<Backend> MakeReferenceBackend() { return std::make_unique<ReferenceBackend>(); }

}  // namespace kvexact
