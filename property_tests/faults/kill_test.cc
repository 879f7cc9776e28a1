// SPDX-License-Identifier: Apache-2.0
// A share of the table that `kvexact faults` prints whole.
#include <gtest/gtest.h>

#include "harness/faults/fault_backend.h"
#include "harness/faults/kill_table.h"

namespace kvexact {
namespace {

KillSettings Settings(std::int64_t cases) {
  KillSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.draw.operations.push_back(row.id);
  settings.cases = cases;
  return settings;
}

// Every seventh wrong row: each stage has some.
TEST(KillTable, ADefaultRunFindsFaultsSoon) {
  int index = 0;
  int tried = 0;
  int within_50 = 0;
  for (const Fault& fault : Faults()) {
    if (fault.fault_class != FaultClass::kWrong || ++index % 7 != 0) continue;
    const auto backend = MakeVariantBackend(fault.name, VariantOf(fault));
    const Kill kill = FindKill(*backend, Settings(2000));
    EXPECT_TRUE(kill.killed) << fault.name << " after " << kill.cases << " cases";
    EXPECT_NE(kill.verdict, "") << fault.name;
    ++tried;
    within_50 += kill.killed && kill.cases <= 50 ? 1 : 0;
  }
  EXPECT_GT(tried, 30);
  EXPECT_GE(2 * within_50, tried);
}

TEST(KillTable, NothingIsHeldAgainstTheModel) {
  const auto reference = MakeReferenceBackend();
  const Kill kill = FindKill(*reference, Settings(100));
  EXPECT_FALSE(kill.killed) << kill.spec << ": " << kill.verdict;
  EXPECT_EQ(kill.cases, 100);
  EXPECT_EQ(kill.verdict, "");
}

}  // namespace
}  // namespace kvexact
