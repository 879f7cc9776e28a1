// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/fill_report.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace kvexact::oracle {

void FillReport::Add(double fill) {
  ++bins_[static_cast<std::size_t>(std::clamp(fill * kBins, 0.0, static_cast<double>(kBins)))];
  ++count_;
  largest_ = std::max(largest_, fill);
}

double FillReport::Quantile(double q) const {
  const double target = q * static_cast<double>(count_);
  std::int64_t seen = 0;
  for (std::size_t b = 0; b < bins_.size(); ++b) {
    seen += bins_[b];
    if (static_cast<double>(seen) >= target) return static_cast<double>(b + 1) / kBins;
  }
  return largest_;
}

std::string FillReport::Text() const {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "n=%lld 50%%<=%.3f 90%%<=%.3f 99%%<=%.3f 99.9%%<=%.3f largest=%.4f",
                static_cast<long long>(count_), Quantile(0.5), Quantile(0.9), Quantile(0.99), Quantile(0.999),
                largest_);
  return text.data();
}

}  // namespace kvexact::oracle
