// SPDX-License-Identifier: Apache-2.0
// Whole launches whose outputs were derived by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "harness/backend/backend.h"
#include "harness/case/case_file.h"
#include "harness/judge/judge.h"
#include "property_tests/golden/golden_files.h"

namespace kvexact {
namespace {

// The first byte that differs, for the message; -1 if none does.
std::int64_t FirstDifference(const Tensor& a, const Tensor& b) {
  const auto [i, j] = std::mismatch(a.byte_span().begin(), a.byte_span().end(), b.byte_span().begin());
  return i == a.byte_span().end() ? -1 : i - a.byte_span().begin();
}

void ExpectDerivedBytes(Backend& backend, const std::string& path) {
  const Case c = ReadCaseFile(path);
  ASSERT_TRUE(c.outputs_after.has_value());
  TensorMap outputs = c.outputs_before;
  const RunOutcome outcome = backend.Run(c, outputs);
  ASSERT_EQ(outcome.status, RunStatus::kOk) << outcome.message;
  ASSERT_EQ(outputs.size(), c.outputs_after->size());
  for (const auto& [name, after] : *c.outputs_after) {
    const Tensor& stored = outputs.at(name);
    ASSERT_EQ(stored.size_bytes(), after.size_bytes());
    const std::int64_t at = FirstDifference(stored, after);
    EXPECT_EQ(at, -1) << name << " byte " << at << ": stored " << int{stored.bytes()[at]} << ", derived "
                      << int{after.bytes()[at]};
  }
}

class DerivedCase : public ::testing::TestWithParam<std::string> {};

TEST_P(DerivedCase, ReferenceStoresTheBytesDerivedByHand) { ExpectDerivedBytes(*MakeReferenceBackend(), GetParam()); }

TEST_P(DerivedCase, HostStoresTheBytesDerivedByHand) { ExpectDerivedBytes(*MakeHostBackend(1), GetParam()); }

// What was derived by hand is the strict model's answer, so the judge, which asks the model again, calls it exact.
TEST_P(DerivedCase, JudgeCallsEveryElementExact) {
  const Case c = ReadCaseFile(GetParam());
  const CaseVerdict verdict = Judge(c, {}, c.outputs_before, *c.outputs_after);
  EXPECT_GT(verdict.total().exact, 0);
  EXPECT_EQ(verdict.total().exact, verdict.total().elements());
  EXPECT_EQ(verdict.touched, 0);
}

INSTANTIATE_TEST_SUITE_P(Golden, DerivedCase, ::testing::ValuesIn(golden::FilesIn("cases")), golden::StemOf);

}  // namespace
}  // namespace kvexact
