// SPDX-License-Identifier: Apache-2.0
// Launches recorded on a GPU.
#include <gtest/gtest.h>

#include <string>

#include "harness/case/case_file.h"
#include "harness/judge/judge.h"
#include "property_tests/golden/golden_files.h"

namespace kvexact {
namespace {

class RecordedCase : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedCase, EveryElementIsExactOrAllowed) {
  const Case c = ReadCaseFile(GetParam());
  ASSERT_TRUE(c.outputs_after.has_value());
  const CaseVerdict verdict = Judge(c, {}, c.outputs_before, *c.outputs_after);
  const Tally total = verdict.total();
  EXPECT_GT(total.exact, 0);
  EXPECT_EQ(total.exact + total.allowed, total.elements());
  EXPECT_EQ(verdict.touched, 0);
  for (const Problem& problem : verdict.problems) {
    ADD_FAILURE() << problem.buffer << " + " << problem.byte_offset << " token " << problem.token << ": "
                  << problem.observed << ", expected " << problem.expected << ", allowed " << problem.allowed;
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, RecordedCase, ::testing::ValuesIn(golden::FilesIn("recorded")), golden::StemOf);

}  // namespace
}  // namespace kvexact
