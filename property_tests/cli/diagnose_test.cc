// SPDX-License-Identifier: Apache-2.0
// kvexact diagnose: what it names, and its exit status.
#include <gtest/gtest.h>

#include "property_tests/cli/program.h"

namespace kvexact {
namespace {

ProgramResult Diagnose(const std::string& backend) {
  return RunProgram({"diagnose", "op=indexer_fp8 requests=0+8", "--backend", backend});
}

TEST(DiagnoseCommand, NamesAPlantedFault) {
  const ProgramResult result = Diagnose("fault:rope-sign");
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("explained  rope-sign"), std::string::npos) << result.out;
}

TEST(DiagnoseCommand, NamesNothingForARightSubject) {
  const ProgramResult result = Diagnose("host");
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("right: no fault to name"), std::string::npos) << result.out;
}

TEST(DiagnoseCommand, ASubjectThatDiesIsAtFault) {
  const ProgramResult result = Diagnose(std::string("lib:") + KVEXACT_TEST_LIBRARIES + "/crashes.so");
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.out.find("signal"), std::string::npos) << result.out;
}

TEST(DiagnoseCommand, NothingRecordedIsBadInput) {
  const ProgramResult result = RunProgram({"diagnose", "op=indexer_fp8 requests=0+8", "--recorded"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--recorded"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace kvexact
