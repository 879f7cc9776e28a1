// SPDX-License-Identifier: Apache-2.0
// A short run of what honest_ports runs at night.
#include <gtest/gtest.h>

#include "harness/generate/generate.h"
#include "harness/run/run_case.h"
#include "property_tests/ports/judge_port.h"
#include "property_tests/ports/port_backend.h"

namespace kvexact::ports {
namespace {

DrawSettings Settings() {
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  settings.seed = 9;
  return settings;
}

TEST(HonestPorts, AreRightUnderTheBudgetThatTheyDeclare) {
  DrawSettings settings = Settings();
  for (const PortOptions& port : Ports()) {
    const PortRun run = JudgePort(port, settings, 48, 0);
    EXPECT_EQ(run.failing, 0) << port.name << ' ' << run.first_failure;
    EXPECT_EQ(run.cases, 48);
    EXPECT_GT(run.elements, 10000) << port.name;
    // Its arithmetic is its own: something is not the strict model's value.
    EXPECT_GT(run.allowed, 0) << port.name;
    ++settings.seed;
  }
}

TEST(HonestPorts, AnotherBudgetIsNeededWhereOneIsDeclared) {
  for (const PortOptions& port : Ports()) {
    if (std::string_view(port.name) != "exp2-of-scaled") continue;
    PortOptions strict = port;
    strict.budget = "default";
    EXPECT_GT(JudgePort(strict, Settings(), 200, 0).failing, 0) << port.name;
  }
}

TEST(HonestPorts, AFaultOnTopIsWrong) {
  const auto subject = MakeFaultyPort(Ports().front(), *FindFault("scale-floor"));
  EXPECT_EQ(subject->info().name, "plain+scale-floor");
  int wrong = 0;
  for (std::uint64_t i = 0; i < 24; ++i) wrong += RunCase(*subject, Generate(Draw(Settings(), i)), {}).right() ? 0 : 1;
  EXPECT_GT(wrong, 6);
}

}  // namespace
}  // namespace kvexact::ports
