// SPDX-License-Identifier: Apache-2.0
#include "harness/report/bench_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/case/input_error.h"
#include "harness/report/html_page.h"
#include "harness/report/markup.h"
#include "harness/report/report.h"
#include "harness/report/totals.h"

namespace kvexact {
namespace {

using bench::Limits;
using bench::WorkloadRow;

constexpr std::size_t kColours = 4;  // classes p0 to p3 of the page

// One workload's times, in the order of the series.
struct Timed {
  WorkloadRow row;
  std::vector<std::optional<double>> us;
};

Limits BestLimits(const std::vector<BenchSeries>& series) {
  std::optional<Limits> best;
  for (const BenchSeries& s : series) {
    if (s.times.limits) best = best ? Limits::Best(*best, *s.times.limits) : *s.times.limits;
  }
  if (!best) throw InputError("report", "bench", "no file holds the rows empty and copy: the limits are not known");
  return *best;
}

std::vector<Timed> TimesOf(const std::vector<BenchSeries>& series) {
  std::vector<Timed> timed;
  for (const WorkloadRow& row : bench::Workloads()) {
    Timed t{row, {}};
    for (const BenchSeries& s : series) t.us.push_back(s.times.Best(row));
    if (std::any_of(t.us.begin(), t.us.end(), [](const auto& us) { return us.has_value(); })) timed.push_back(t);
  }
  if (timed.empty()) throw InputError("report", "bench", "no file holds a time of a known workload");
  return timed;
}

// Devices that the files name, each once.
std::string DevicesText(const std::vector<BenchSeries>& series) {
  std::vector<std::string> seen;
  std::string text;
  for (const BenchSeries& s : series) {
    const std::string& device = s.times.device;
    if (device.empty() || std::find(seen.begin(), seen.end(), device) != seen.end()) continue;
    text += (text.empty() ? "" : ", ") + device;
    seen.push_back(device);
  }
  return text;
}

std::string Key(const std::vector<BenchSeries>& series) {
  std::string text = "<p class=\"key faint\">";
  for (std::size_t s = 0; s < series.size(); ++s) {
    text +=
        fmt::format("<span style=\"background: var(--p{})\"></span>{}", s % kColours, MarkupText(series[s].name, 200));
  }
  return text + "</p>\n";
}

// A power of ten from 10^3 up.
std::string BytesText(double decade) {
  static constexpr const char* kUnits[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
  const auto power = static_cast<std::size_t>(std::clamp(decade, 3.0, 20.0));
  return fmt::format("{:.0f} {}", std::pow(10, power % 3), kUnits[power / 3 - 1]);
}

// A picture with logarithmic axes: bytes to the right, bytes a second upwards.
class Roofline {
 public:
  Roofline(const std::vector<Timed>& timed, const Limits& limits) : limits_(limits) {
    for (const Timed& t : timed) {
      const auto bytes = static_cast<double>(t.row.Bytes());
      first_ = std::min(first_, std::floor(std::log10(bytes)));
      last_ = std::max(last_, std::ceil(std::log10(bytes)));
    }
    top_ = std::ceil(std::log10(limits.bandwidth));
  }

  std::string Text(const std::vector<Timed>& timed) const {
    std::string text = "<svg viewBox=\"0 0 1080 420\" role=\"img\" aria-label=\"roofline\">\n";
    for (double decade = first_; decade <= last_; ++decade) {
      text += fmt::format("<line class=\"axis\" x1=\"{0:.0f}\" y1=\"10\" x2=\"{0:.0f}\" y2=\"390\"/>", X(decade));
      text += fmt::format("<text class=\"{}\" x=\"{:.0f}\" y=\"405\">{}</text>\n", decade < last_ ? "middle" : "end",
                          X(decade), BytesText(decade));
    }
    for (double decade = top_ - kDecades; decade <= top_; ++decade) {
      text += fmt::format("<line class=\"axis\" x1=\"60\" y1=\"{0:.0f}\" x2=\"1070\" y2=\"{0:.0f}\"/>", Y(decade));
      text += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}/s</text>\n", Y(decade) + 4, BytesText(decade));
    }
    text += "<polyline class=\"roof\" points=\"";
    for (double x = first_; x <= last_ + 1e-9; x += 0.05) {
      const double rate = Reachable(std::pow(10, x));
      if (std::log10(rate) >= top_ - kDecades) text += Point(std::pow(10, x), rate);
    }
    text += "\"/>\n";
    for (const Timed& t : timed) {
      for (std::size_t s = 0; s < t.us.size(); ++s) {
        if (!t.us[s]) continue;
        const auto bytes = static_cast<double>(t.row.Bytes());
        const double rate = bytes / *t.us[s] * 1e6;
        text += fmt::format(
            "<circle class=\"p{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"><title>{}: {:.2f} us</title></circle>\n",
            s % kColours, X(std::log10(bytes)), Y(std::log10(rate)), MarkupText(t.row.Name()), *t.us[s]);
      }
    }
    return text + "</svg>\n";
  }

 private:
  static constexpr double kDecades = 4;

  double Reachable(double bytes) const { return bytes / (limits_.empty_us * 1e-6 + bytes / limits_.bandwidth); }
  double X(double decade) const { return 60 + 1010 * (decade - first_) / (last_ - first_); }
  double Y(double decade) const { return 10 + 380 * std::min(1.0, (top_ - decade) / kDecades); }
  std::string Point(double bytes, double rate) const {
    return fmt::format("{:.1f},{:.1f} ", X(std::log10(bytes)), Y(std::log10(rate)));
  }

  const Limits& limits_;
  double first_ = 18;
  double last_ = 0;
  double top_ = 0;
};

// Limit over time as bars; the line is 1.
std::string Ratios(const std::vector<Timed>& timed, const Limits& limits) {
  constexpr double kUnit = 780;
  const std::size_t bars = timed.front().us.size();
  const double height = 10 * static_cast<double>(bars) + 8;
  std::string text = fmt::format("<svg viewBox=\"0 0 1080 {:.0f}\" role=\"img\" aria-label=\"limit over time\">\n",
                                 height * static_cast<double>(timed.size()));
  double y = 0;
  for (const Timed& t : timed) {
    text += fmt::format("<text x=\"0\" y=\"{:.0f}\">{}</text>\n", y + 9, MarkupText(t.row.Name()));
    for (std::size_t s = 0; s < bars; ++s) {
      if (!t.us[s]) continue;
      const double ratio = limits.MicrosecondsFor(t.row.Bytes()) / *t.us[s];
      const double at = y + 10 * static_cast<double>(s);
      text += fmt::format("<rect class=\"p{}\" x=\"200\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"8\"/>", s % kColours,
                          at, kUnit * std::min(ratio, 1.05));
      text += fmt::format("<text class=\"end\" x=\"1078\" y=\"{:.0f}\">{:.3f}</text>\n", at + 8, ratio);
    }
    y += height;
  }
  return text + fmt::format("<line class=\"roof\" x1=\"{0:.0f}\" y1=\"0\" x2=\"{0:.0f}\" y2=\"{1:.0f}\"/>\n</svg>\n",
                            200 + kUnit, y);
}

std::string Table(const std::vector<BenchSeries>& series, const std::vector<Timed>& timed, const Limits& limits) {
  std::vector<std::string> header = {"workload", "bytes", "limit us"};
  for (const BenchSeries& s : series) header.insert(header.end(), {s.name + " us", "limit / time"});
  std::vector<std::vector<std::string>> lines;
  for (const Timed& t : timed) {
    const std::int64_t bytes = t.row.Bytes();
    lines.push_back({t.row.Name(), std::to_string(bytes), fmt::format("{:.2f}", limits.MicrosecondsFor(bytes))});
    for (const auto& us : t.us) {
      lines.back().push_back(us ? fmt::format("{:.2f}", *us) : "-");
      lines.back().push_back(us ? fmt::format("{:.3f}", limits.MicrosecondsFor(bytes) / *us) : "-");
    }
  }
  return HtmlTable(header, lines, 1);
}

}  // namespace

std::string BenchHtml(const std::vector<BenchSeries>& series) {
  const Limits limits = BestLimits(series);
  const std::vector<Timed> timed = TimesOf(series);
  const std::string devices = DevicesText(series);
  return HtmlPage(
      "kvexact: times",
      fmt::format(
          "<h1>Times{}</h1>\n<p>An empty launch takes {:.2f} us, a copy moves {:.3f} TB/s: limit = launch + bytes / "
          "copy.</p>\n<p class=\"faint\">Page by {}.</p>\n{}<h2>Roofline</h2>\n{}<h2>Limit over time</h2>\n{}"
          "<h2>Workloads</h2>\n{}",
          devices.empty() ? "" : " on " + MarkupText(devices, 400), limits.empty_us, limits.bandwidth * 1e-12,
          MarkupText(EnvironmentText(ThisEnvironment())), Key(series), Roofline(timed, limits).Text(timed),
          Ratios(timed, limits), Table(series, timed, limits)));
}

}  // namespace kvexact
