// SPDX-License-Identifier: Apache-2.0
// A backend that stores what the strict model stores, and then does one thing wrong.
#pragma once

#include <functional>

#include "harness/backend/backend.h"

namespace kvexact {

class PlantedBackend final : public Backend {
 public:
  // `fault` gets the case, what the buffers held before the run, what they hold now, and the number of the run (0, 1,
  // ...); what it returns is the run's outcome.
  using Fault = std::function<RunOutcome(const Case&, const TensorMap& before, TensorMap& outputs, int run)>;

  explicit PlantedBackend(Fault fault) : fault_(std::move(fault)) {}

  const BackendInfo& info() const override { return info_; }
  BackendInfo& info() { return info_; }
  RunOutcome Run(const Case& c, TensorMap& outputs) override {
    const TensorMap before = outputs;
    MakeReferenceBackend()->Run(c, outputs);
    return fault_(c, before, outputs, runs_++);
  }
  RunOutcome Close() override { return end_; }
  RunOutcome& end() { return end_; }
  int runs() const { return runs_; }

 private:
  Fault fault_;
  BackendInfo info_{"planted", "1", "CPU", "seed", false};
  RunOutcome end_;
  int runs_ = 0;
};

}  // namespace kvexact
