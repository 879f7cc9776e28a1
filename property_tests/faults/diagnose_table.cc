// SPDX-License-Identifier: Apache-2.0
// diagnose_table [--port] [STEP]: every STEP-th wrong row of the table, diagnosed on the first case that it fails,
// shrunk as `verify` does, over the strict arithmetic or an honest port's. Exits 0 if the row is in the top tie for at
// least 95 % of them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness/faults/diagnose.h"
#include "harness/faults/fault_backend.h"
#include "harness/faults/kill_table.h"
#include "harness/generate/generate.h"
#include "harness/run/run_case.h"
#include "harness/run/shrink.h"
#include "property_tests/faults/port_kernels.h"

int main(int argc, char** argv) {
  using namespace kvexact;
  const bool port = argc > 1 && std::strcmp(argv[1], "--port") == 0;
  const int step = argc > (port ? 2 : 1) ? std::max(1, std::atoi(argv[argc - 1])) : 1;
  KillSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.draw.operations.push_back(row.id);
  DiagnoseOptions options;
  options.separating_cases = 48;
  int index = 0;
  int tried = 0;
  int named = 0;
  int alone = 0;
  for (const Fault& fault : Faults()) {
    if (fault.fault_class != FaultClass::kWrong || ++index % step != 0) continue;
    const auto subject = MakeVariantBackend(fault.name, VariantOf(fault), port ? PortKernels() : BestColumnKernels());
    const Kill kill = FindKill(*subject, settings);
    if (!kill.killed) continue;
    const CaseSpec spec = ParseSpec(kill.spec);
    ShrinkLimits limits;
    limits.trials = 200;
    const Shrunk shrunk = Shrink(*subject, spec, RunCase(*subject, Generate(spec), {}), {}, limits);
    const Diagnosis diagnosis = Diagnose(*subject, Generate(shrunk.spec), options);
    const auto top = diagnosis.suspects.begin() + static_cast<std::ptrdiff_t>(diagnosis.tied);
    const bool found = std::any_of(diagnosis.suspects.begin(), top,
                                   [&](const Suspect& s) { return s.first == &fault && s.second == nullptr; });
    ++tried;
    named += found ? 1 : 0;
    alone += found && diagnosis.tied == 1 ? 1 : 0;
    std::printf("%-29s %-6s tied %zu of %zu after %lld cases\n", fault.name, found ? "named" : "MISSED", diagnosis.tied,
                diagnosis.suspects.size(), static_cast<long long>(diagnosis.cases));
    std::fflush(stdout);
  }
  std::printf("diagnosed=%d named=%d alone=%d\n", tried, named, alone);
  return tried > 0 && 100 * named >= 95 * tried ? 0 : 1;
}
