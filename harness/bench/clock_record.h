// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace kvexact::bench {

// The clocks of a device over some samples, from NVML.
struct ClockRecord {
  unsigned lowest_mhz = 0;  // of the multiprocessors; 0: not known
  unsigned highest_mhz = 0;
  std::uint64_t throttle_reasons = 0;  // NVML's bits, all that were seen

  void Add(const ClockRecord& other) {
    if (other.lowest_mhz != 0) {
      lowest_mhz = lowest_mhz == 0 ? other.lowest_mhz : std::min(lowest_mhz, other.lowest_mhz);
      highest_mhz = std::max(highest_mhz, other.highest_mhz);
    }
    throttle_reasons |= other.throttle_reasons;
  }

  // The clock changed by more than a fiftieth, or the device slowed itself down for power or heat. "Idle" and "clocks
  // as an application set them" say nothing about the time of a replay.
  bool Moved() const {
    constexpr std::uint64_t kHarmless = 0x1 | 0x2;
    return 50 * (highest_mhz - lowest_mhz) > highest_mhz || (throttle_reasons & ~kHarmless) != 0;
  }
};

}  // namespace kvexact::bench
