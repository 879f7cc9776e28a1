// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "harness/backend/backend.h"
#include "harness/faults/run_variant.h"

namespace kvexact {

// A variant of the strict model behind the interface of an implementation under test. Arithmetic is Strict or derived
// from it.
template <class Arithmetic>
class VariantBackend final : public Backend {
 public:
  VariantBackend(BackendInfo info, const Variant& variant, Arithmetic arithmetic)
      : info_(std::move(info)), variant_(variant), arithmetic_(std::move(arithmetic)) {}

  const BackendInfo& info() const override { return info_; }

  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    RunVariant(variant_, arithmetic_, c, outputs);
    return {};
  }

 private:
  BackendInfo info_;
  Variant variant_;
  Arithmetic arithmetic_;
};

}  // namespace kvexact
