// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kvexact::bench {
namespace {

constexpr std::int64_t kCopyBytes = std::int64_t{2} << 30;

double Rounded(double x) { return std::round(x * 1e4) / 1e4; }

double Quantile(std::vector<double>& values, double share) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

nlohmann::ordered_json LineOf(const std::string& kernel, const std::string& mode, std::int64_t tokens,
                              std::int64_t compressed, std::int64_t bytes, double us, const Limits& limits,
                              double spread) {
  nlohmann::ordered_json line;
  line["kernel"] = kernel;
  line["mode"] = mode;
  line["tokens"] = tokens;
  line["compressed"] = compressed;
  line["bytes"] = bytes;
  line["us"] = Rounded(us);
  line["limit_us"] = Rounded(limits.MicrosecondsFor(bytes));
  line["ratio"] = Rounded(limits.MicrosecondsFor(bytes) / us);
  line["spread"] = Rounded(spread);
  return line;
}

}  // namespace

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double RelativeSpread(std::vector<double> values) {
  const double low = Quantile(values, 0.25);
  const double high = Quantile(values, 0.75);
  return (high - low) / Median(values);
}

std::string MeasurementText(const BenchDescription& description, const std::vector<Measurement>& measurements,
                            const Peers& peers) {
  const Limits& limits = description.limits;
  std::string text = fmt::format(
      "{} {} on {}\nempty launch {:.3f} us, copy {:.3f} TB/s; ratio = (empty launch + bytes / copy) / time\n"
      "{:<28} {:>9} {:>9} {:>6} {:>10} {:>6}",
      description.backend, description.version, description.device, limits.empty_us, limits.bandwidth * 1e-12,
      "workload", "limit us", "us", "ratio", "over empty", "spread");
  if (!peers.rows.empty()) text += fmt::format(" {:>9} {:>6} {:>6}", "peer us", "ratio", "faster");
  text += "\n";
  for (const Measurement& m : measurements) {
    if (!m.unsupported.empty()) {
      text += fmt::format("{:<28} unsupported: {}\n", m.row.Name(), m.unsupported);
      continue;
    }
    const double limit = limits.MicrosecondsFor(m.row.Bytes());
    text += fmt::format("{:<28} {:>9.2f} {:>9.2f} {:>6.3f} {:>10.2f} {:>5.1f}%", m.row.Name(), limit, m.us,
                        limit / m.us, m.us - limits.empty_us, 100 * m.spread);
    if (const std::optional<double> peer = peers.Best(m.row)) {
      text += fmt::format(" {:>9.2f} {:>6.3f} {:>5.2f}x", *peer, limit / *peer, *peer / m.us);
    }
    text += "\n";
  }
  return text;
}

std::string MeasurementJson(const BenchDescription& description, const std::vector<Measurement>& measurements) {
  const Limits& limits = description.limits;
  std::vector<nlohmann::ordered_json> lines = {
      LineOf("empty", "launch", 0, 0, 0, limits.empty_us, limits, 0),
      LineOf("copy", "1GiB", 0, 0, kCopyBytes, limits.MicrosecondsFor(kCopyBytes), limits, 0)};
  lines.front()["device"] = description.device;
  for (const Measurement& m : measurements) {
    if (!m.unsupported.empty()) continue;
    const WorkloadRow& row = m.row;
    lines.push_back(LineOf(row.kernel, row.mode, row.tokens, row.Compressed(), row.Bytes(), m.us, limits, m.spread));
  }
  std::string text;
  for (const nlohmann::ordered_json& line : lines) text += line.dump() + "\n";
  return text;
}

}  // namespace kvexact::bench
