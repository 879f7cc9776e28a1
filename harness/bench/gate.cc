// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/gate.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kvexact::bench {
namespace {

constexpr double kDoubt = 1e-4;               // chance that the median lies outside of the interval
constexpr double kRelativeTolerance = 0.025;  // half of what must be seen
constexpr double kLeastToleranceUs = 0.25;    // launches of the same kernel differ by 0.2 us from time to time

// The largest k such that the k smallest and the k largest of n differences can be left out of the interval: at most
// kDoubt / 2 of the binomial distribution (n, 1/2) lies below k.
std::size_t LeftOut(std::size_t n) {
  double term = std::exp2(-static_cast<double>(n));  // of 0 successes
  double sum = 0;
  std::size_t k = 0;
  for (; k < n / 2; ++k) {
    sum += term;
    if (sum > kDoubt / 2) break;
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return k;
}

}  // namespace

const char* NameOf(Decision decision) {
  switch (decision) {
    case Decision::kFaster:
      return "faster";
    case Decision::kSame:
      return "same";
    case Decision::kSlower:
      return "slower";
    case Decision::kAmbiguous:
      break;
  }
  return "ambiguous";
}

Gate Decide(const PairedRounds& pairs) {
  Gate gate;
  std::vector<double> differences;
  for (std::size_t i = 0; i < pairs.a_us.size(); ++i) differences.push_back(pairs.b_us[i] - pairs.a_us[i]);
  std::sort(differences.begin(), differences.end());
  const std::size_t n = differences.size();
  const std::size_t left_out = LeftOut(n);
  if (left_out == 0) return gate;
  std::vector<double> a = pairs.a_us;
  std::nth_element(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n / 2), a.end());
  gate.tolerance_us = std::max(kLeastToleranceUs, kRelativeTolerance * a[n / 2]);
  gate.median_us = differences[n / 2];
  gate.low_us = differences[left_out - 1];
  gate.high_us = differences[n - left_out];
  if (gate.high_us < -gate.tolerance_us) {
    gate.decision = pairs.clocks_moved ? Decision::kAmbiguous : Decision::kFaster;
  } else if (gate.high_us <= gate.tolerance_us) {
    gate.decision = Decision::kSame;
  } else if (gate.low_us > gate.tolerance_us && !pairs.clocks_moved) {
    gate.decision = Decision::kSlower;
  }
  return gate;
}

}  // namespace kvexact::bench
