// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/baseline.h"

#include <fmt/format.h>

#include <algorithm>

namespace kvexact::bench {

std::vector<std::string> CompareWithBaseline(const BenchDescription& description,
                                             const std::vector<Measurement>& measurements, const Peers& baseline) {
  std::vector<std::string> lines;
  if (!baseline.device.empty() && baseline.device != description.device) {
    lines.push_back(fmt::format("taken on {}, this is {}", baseline.device, description.device));
  }
  const double then_empty = baseline.limits ? baseline.limits->empty_us : description.limits.empty_us;
  for (const Measurement& m : measurements) {
    const std::optional<double> then = baseline.Best(m.row);
    if (!then) {
      lines.push_back(fmt::format("{}: not in the baseline", m.row.Name()));
      continue;
    }
    if (!m.unsupported.empty()) {
      lines.push_back(fmt::format("{}: {:.2f} us in the baseline, unsupported now", m.row.Name(), *then));
      continue;
    }
    const double expected = *then + (description.limits.empty_us - then_empty);
    const double tolerance = std::max(kBaselineTolerance, 3 * m.spread) * expected;
    if (m.us <= expected + tolerance) continue;
    lines.push_back(fmt::format("{}: {:.2f} us, {:.2f} us in the baseline ({:+.1f} %)", m.row.Name(), m.us, *then,
                                100 * (m.us - expected) / expected));
  }
  return lines;
}

}  // namespace kvexact::bench
