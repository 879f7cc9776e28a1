// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/fault_backend.h"

#include <utility>

#include "harness/faults/run_variant.h"

namespace kvexact {
namespace {

constexpr char kPrefix[] = "fault:";

class VariantBackend final : public Backend {
 public:
  VariantBackend(std::string name, const Variant& variant, const ColumnKernels& kernels)
      : variant_(variant), strict_(kernels), info_{std::move(name), "1", "CPU", "seed", false} {}

  const BackendInfo& info() const override { return info_; }

  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    RunVariant(variant_, strict_, c, outputs);
    return {};
  }

 private:
  Variant variant_;
  Strict strict_;
  BackendInfo info_;
};

const Fault& Named(const std::string& spec, std::string_view name) {
  const Fault* fault = FindFault(name);
  if (fault == nullptr) {
    throw InputError(spec, "backend", "there is no fault \"" + std::string(name) + "\"; kvexact list faults");
  }
  return *fault;
}

}  // namespace

std::unique_ptr<Backend> MakeVariantBackend(std::string name, const Variant& variant, const ColumnKernels& kernels) {
  return std::make_unique<VariantBackend>(std::move(name), variant, kernels);
}

std::unique_ptr<Backend> OpenFaultBackend(const std::string& spec) {
  const std::string_view names = std::string_view(spec).substr(sizeof kPrefix - 1);
  const std::size_t plus = names.find('+');
  const Fault& first = Named(spec, names.substr(0, plus));
  if (plus == std::string_view::npos) return MakeVariantBackend(spec, VariantOf(first));
  return MakeVariantBackend(spec, VariantOf(first, Named(spec, names.substr(plus + 1))));
}

}  // namespace kvexact
