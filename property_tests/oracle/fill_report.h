// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kvexact::oracle {

// How much of the enclosures' radii a set of evaluations used: a histogram of |value - mid| / radius.
class FillReport {
 public:
  void Add(double fill);

  std::int64_t count() const { return count_; }
  double largest() const { return largest_; }
  // "count, median, 90 %, 99 %, 99.9 %, largest".
  std::string Text() const;

 private:
  static constexpr int kBins = 200;  // of 1 / 200 each
  double Quantile(double q) const;

  std::array<std::int64_t, kBins + 1> bins_{};
  std::int64_t count_ = 0;
  double largest_ = 0;
};

}  // namespace kvexact::oracle
