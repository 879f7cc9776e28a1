// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "harness/backend/backend.h"
#include "harness/run/run_case.h"

namespace kvexact {

// The implementation under test as the threads of a run share it: one case at a time, unless it is concurrent.
class SharedSubject {
 public:
  explicit SharedSubject(Backend& backend) : backend_(backend) {}

  void Run(CaseTrial& trial) {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!backend_.info().concurrent) lock.lock();
    trial.Run(backend_);
  }

 private:
  Backend& backend_;
  std::mutex mutex_;
};

}  // namespace kvexact
