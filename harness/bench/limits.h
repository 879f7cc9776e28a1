// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvexact::bench {

// What moving bytes once costs: an empty launch, and a copy's bytes a second (read and written).
struct Limits {
  double empty_us = 0;
  double bandwidth = 0;

  double MicrosecondsFor(std::int64_t bytes) const { return empty_us + static_cast<double>(bytes) / bandwidth * 1e6; }
  // The better of each: a time that neither of two machines' measurements makes too long.
  static Limits Best(const Limits& a, const Limits& b) {
    return {a.empty_us < b.empty_us ? a.empty_us : b.empty_us, a.bandwidth > b.bandwidth ? a.bandwidth : b.bandwidth};
  }
};

}  // namespace kvexact::bench
