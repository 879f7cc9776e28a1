// SPDX-License-Identifier: Apache-2.0
// The clocks of device 0 while something is timed on it, from NVML where the machine has it.
#pragma once

#include "harness/bench/clock_record.h"

namespace kvexact::bench {

class Clocks {
 public:
  Clocks();
  ~Clocks();
  Clocks(const Clocks&) = delete;
  Clocks& operator=(const Clocks&) = delete;

  ClockRecord Sample() const;

 private:
  void* library_ = nullptr;  // null: no NVML
  void* device_ = nullptr;
};

}  // namespace kvexact::bench
