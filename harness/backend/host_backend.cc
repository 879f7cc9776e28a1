// SPDX-License-Identifier: Apache-2.0
// An honest CPU port: same semantics as the strict model, other algorithms (libm, its own summation order,
// weights normalised before the weighted sum). It shares data with the reference, no code.
#include "harness/backend/backend.h"
#include "harness/backend/host/compress.h"
#include "harness/backend/host/indexer_q.h"

namespace kvexact {
namespace {

class HostBackend final : public Backend {
 public:
  explicit HostBackend(int threads) : threads_(threads) {}

  const BackendInfo& info() const override { return info_; }

  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    if (c.row().family == spec::Family::kIndexerQ) {
      const IndexerQBinding binding(c);
      host::IndexerQ(binding.inputs(), BindIndexerQOutputs(c, outputs), threads_);
    } else {
      const CompressBinding binding(c);
      Compress(binding.inputs(), BindCompressOutputs(c, outputs));
    }
    return {};
  }

 private:
  void Compress(const CompressInputs& in, const CompressOutputs& out) const {
    switch (in.op) {
      case spec::Operation::kGatherSplit:
        return host::GatherSplit(in, out, threads_);
      case spec::Operation::kFinalize:
        return host::Finalize(in, out, threads_);
      case spec::Operation::kTwoStage:
        return host::TwoStage(in, out, threads_);
      default:
        return host::SinglePass(in, out, threads_);
    }
  }

  int threads_;
  BackendInfo info_{
      .name = "host", .version = "1", .device = "CPU, libm", .policy = "seed", .bit_exact = false, .concurrent = true};
};

}  // namespace

std::unique_ptr<Backend> MakeHostBackend(int threads) { return std::make_unique<HostBackend>(threads); }

}  // namespace kvexact
