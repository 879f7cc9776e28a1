// SPDX-License-Identifier: Apache-2.0
#include "property_tests/ports/judge_port.h"

#include "harness/run/run_cases.h"
#include "property_tests/ports/port_backend.h"

namespace kvexact::ports {

PortRun JudgePort(const PortOptions& options, const DrawSettings& settings, std::int64_t cases, int threads) {
  const auto port = MakePort(options);
  JudgeOptions judge;
  judge.budget = FindBudget(options.budget);
  PortRun run;
  RunLimits limits;
  limits.threads = threads;
  RunCases(*port, DrawnCases(settings, cases, {}), judge, limits, [&](const CaseResult& result) {
    const Tally total = result.verdict.total();
    ++run.cases;
    run.elements += total.elements();
    run.allowed += total.allowed;
    if (result.right()) return;
    if (++run.failing > 1) return;
    run.first_failure = result.name + ": " + std::to_string(total.wrong) + " wrong, " +
                        std::to_string(result.unstable_elements()) + " unstable, " + result.message;
  });
  return run;
}

}  // namespace kvexact::ports
