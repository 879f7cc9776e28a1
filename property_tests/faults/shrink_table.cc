// SPDX-License-Identifier: Apache-2.0
// shrink_table [STEP]: every STEP-th wrong row of the table, its first failing case shrunk as `verify` does. A row
// needs more than 4 tokens or 1 request if none of 400 drawn cases with so few fails. Exits 0 if at least 90 % of the
// rows that need no more are shrunk to so few.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "harness/faults/fault_backend.h"
#include "harness/faults/kill_table.h"
#include "harness/generate/generate.h"
#include "harness/run/run_case.h"
#include "harness/run/shrink.h"

namespace kvexact {
namespace {

constexpr std::int64_t kFewTokens = 4;

bool IsSmall(const CaseSpec& spec) { return TokensOf(spec) <= kFewTokens && RequestsOf(spec) <= 1; }

DrawSettings AllOperations() {
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  return settings;
}

// The drawn case with one request, of the last few tokens up to the end of a window.
std::optional<CaseSpec> DrawSmall(std::uint64_t index) {
  CaseSpec spec = Draw(AllOperations(), index);
  if (spec.requests.empty()) return std::nullopt;
  const RequestRun& run = spec.requests.front();
  const std::int64_t period = spec::row(spec.config.op).family == spec::Family::kIndexerQ ? 1 : spec.config.ratio;
  const std::int64_t end = std::max<std::int64_t>(1, (run.start + run.length) / period) * period;
  const std::int64_t length = std::min<std::int64_t>(end, 1 + static_cast<std::int64_t>(index % kFewTokens));
  spec.requests = {{end - length, length, 1}};
  return spec;
}

std::optional<std::string> SmallCaseThatFails(Backend& subject) {
  for (std::uint64_t i = 0; i < 400; ++i) {
    const std::optional<CaseSpec> spec = DrawSmall(i);
    if (spec && !RunCase(subject, Generate(*spec), {}).right()) return ToText(*spec);
  }
  return std::nullopt;
}

struct Counts {
  int rows = 0;
  int small = 0;
  int need_more = 0;
  double worst_seconds = 0;
};

void ShrinkRow(const Fault& fault, Counts& counts) {
  const auto subject = MakeVariantBackend(fault.name, VariantOf(fault));
  KillSettings settings;
  settings.draw = AllOperations();
  const Kill kill = FindKill(*subject, settings);
  if (!kill.killed) {
    std::printf("%-27s not found\n", fault.name);
    return;
  }
  const CaseSpec spec = ParseSpec(kill.spec);
  const CaseResult failure = RunCase(*subject, Generate(spec), {});
  const auto start = std::chrono::steady_clock::now();
  const Shrunk shrunk = Shrink(*subject, spec, failure, {}, {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool small = IsSmall(shrunk.spec);
  const std::optional<std::string> other = small ? std::nullopt : SmallCaseThatFails(*subject);
  ++counts.rows;
  counts.small += small ? 1 : 0;
  counts.need_more += !small && !other ? 1 : 0;
  counts.worst_seconds = std::max(counts.worst_seconds, seconds);
  std::printf("%-27s %-9s %3lld tokens %2lld requests %4lld trials %6.2f s%s  %s%s\n", fault.name,
              small   ? "small"
              : other ? "LARGE"
                      : "needs it",
              static_cast<long long>(TokensOf(shrunk.spec)), static_cast<long long>(RequestsOf(shrunk.spec)),
              static_cast<long long>(shrunk.trials), seconds, shrunk.least ? "" : " (limit)",
              ToText(shrunk.spec).c_str(), other ? (" | " + *other).c_str() : "");
  std::fflush(stdout);
}

}  // namespace
}  // namespace kvexact

int main(int argc, char** argv) {
  using namespace kvexact;
  const int step = argc > 1 ? std::max(1, std::atoi(argv[1])) : 1;
  Counts counts;
  int index = 0;
  for (const Fault& fault : Faults()) {
    if (fault.fault_class == FaultClass::kWrong && ++index % step == 0) ShrinkRow(fault, counts);
  }
  const int could = counts.rows - counts.need_more;
  std::printf("rows=%d need_more=%d small=%d of %d worst_seconds=%.1f\n", counts.rows, counts.need_more, counts.small,
              could, counts.worst_seconds);
  return could > 0 && 100 * counts.small >= 90 * could ? 0 : 1;
}
