// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harness/bench/gate.h"
#include "harness/bench/measurement.h"

namespace kvexact::bench {

Outcome OutcomeOf(const std::vector<Comparison>& comparisons) {
  bool any = false;
  bool slower = false;
  bool ambiguous = false;
  for (const Comparison& c : comparisons) {
    if (!c.unsupported.empty()) continue;
    any = true;
    const Decision decision = Decide(c.pairs).decision;
    slower = slower || decision == Decision::kSlower;
    ambiguous = ambiguous || decision == Decision::kAmbiguous;
  }
  return slower ? Outcome::kSlower : ambiguous ? Outcome::kAmbiguous : any ? Outcome::kNotSlower : Outcome::kNothing;
}

std::string ComparisonText(const std::vector<Comparison>& comparisons) {
  std::string text = fmt::format("{:<28} {:>9} {:>9} {:>8} {:>19}  {}\n", "workload", "before us", "now us", "more us",
                                 "99.99 % interval", "decision, clocks");
  for (const Comparison& c : comparisons) {
    if (!c.unsupported.empty()) {
      text += fmt::format("{:<28} unsupported: {}\n", c.row.Name(), c.unsupported);
      continue;
    }
    const Gate gate = Decide(c.pairs);
    const std::string interval = fmt::format("[{:.2f}, {:.2f}]", gate.low_us, gate.high_us);
    text += fmt::format("{:<28} {:>9.2f} {:>9.2f} {:>8.2f} {:>19}  {}", c.row.Name(), Median(c.pairs.a_us),
                        Median(c.pairs.b_us), gate.median_us, interval, NameOf(gate.decision));
    if (c.clocks.highest_mhz != 0) text += fmt::format(", {} to {} MHz", c.clocks.lowest_mhz, c.clocks.highest_mhz);
    if (c.pairs.clocks_moved) text += fmt::format(", clocks moved (reasons {:#x})", c.clocks.throttle_reasons);
    text += "\n";
  }
  return text;
}

std::string ComparisonJson(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& c : comparisons) {
    nlohmann::ordered_json line;
    line["kernel"] = c.row.kernel;
    line["mode"] = c.row.mode;
    line["tokens"] = c.row.tokens;
    if (!c.unsupported.empty()) {
      line["unsupported"] = c.unsupported;
    } else {
      const Gate gate = Decide(c.pairs);
      line["decision"] = NameOf(gate.decision);
      line["more_us"] = gate.median_us;
      line["interval_us"] = {gate.low_us, gate.high_us};
      line["tolerance_us"] = gate.tolerance_us;
      line["clock_mhz"] = {c.clocks.lowest_mhz, c.clocks.highest_mhz};
      line["throttle_reasons"] = c.clocks.throttle_reasons;
      line["clocks_moved"] = c.pairs.clocks_moved;
      line["before_us"] = c.pairs.a_us;
      line["now_us"] = c.pairs.b_us;
    }
    text += line.dump() + "\n";
  }
  return text;
}

}  // namespace kvexact::bench
