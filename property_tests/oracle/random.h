// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvexact::oracle {

// SplitMix64: the same stream on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  bool Coin() { return (Bits() >> 63) != 0; }
  // Uniform in [0, n), n < 2^32.
  int Below(int n) { return static_cast<int>(((Bits() >> 32) * static_cast<std::uint64_t>(n)) >> 32); }
  int Between(int low, int high) { return low + Below(high - low + 1); }
  // Uniform in [0, 1) and in [-1, 1).
  double Unit() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }
  double Signed() { return 2 * Unit() - 1; }

 private:
  std::uint64_t state_;
};

}  // namespace kvexact::oracle
