// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/fault_backend.h"

#include <utility>

#include "harness/faults/variant_backend.h"

namespace kvexact {
namespace {

constexpr char kPrefix[] = "fault:";

const Fault& Named(const std::string& spec, std::string_view name) {
  const Fault* fault = FindFault(name);
  if (fault == nullptr) {
    throw InputError(spec, "backend", "there is no fault \"" + std::string(name) + "\"; kvexact list faults");
  }
  return *fault;
}

}  // namespace

std::unique_ptr<Backend> MakeVariantBackend(std::string name, const Variant& variant, const ColumnKernels& kernels) {
  BackendInfo info{.name = std::move(name), .version = "1", .device = "CPU", .policy = "seed", .bit_exact = false};
  return std::make_unique<VariantBackend<Strict>>(std::move(info), variant, Strict(kernels));
}

std::unique_ptr<Backend> OpenFaultBackend(const std::string& spec) {
  const std::string_view names = std::string_view(spec).substr(sizeof kPrefix - 1);
  const std::size_t plus = names.find('+');
  const Fault& first = Named(spec, names.substr(0, plus));
  if (plus == std::string_view::npos) return MakeVariantBackend(spec, VariantOf(first));
  return MakeVariantBackend(spec, VariantOf(first, Named(spec, names.substr(plus + 1))));
}

}  // namespace kvexact
