// SPDX-License-Identifier: Apache-2.0
// honest_ports CASES [SEED]: so many drawn cases, shared out among the honest ports; exits 0 if all are right. Nightly.
#include <cstdio>
#include <cstdlib>

#include "property_tests/ports/judge_port.h"

int main(int argc, char** argv) {
  using namespace kvexact;
  const std::int64_t cases = argc > 1 ? std::atoll(argv[1]) : 0;
  if (cases < 1) {
    std::fputs("usage: honest_ports CASES [SEED]\n", stderr);
    return 2;
  }
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  settings.seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  const auto each =
      (cases + static_cast<std::int64_t>(ports::Ports().size()) - 1) / static_cast<std::int64_t>(ports::Ports().size());
  ports::PortRun all;
  for (const ports::PortOptions& port : ports::Ports()) {
    const ports::PortRun run = ports::JudgePort(port, settings, each, 0);
    std::printf("%-22s %-12s cases=%lld elements=%lld allowed=%lld failing=%lld %s\n", port.name, port.budget,
                static_cast<long long>(run.cases), static_cast<long long>(run.elements),
                static_cast<long long>(run.allowed), static_cast<long long>(run.failing), run.first_failure.c_str());
    std::fflush(stdout);
    all.cases += run.cases;
    all.elements += run.elements;
    all.failing += run.failing;
    ++settings.seed;
  }
  std::printf("cases=%lld elements=%lld failing=%lld\n", static_cast<long long>(all.cases),
              static_cast<long long>(all.elements), static_cast<long long>(all.failing));
  return all.failing == 0 ? 0 : 1;
}
