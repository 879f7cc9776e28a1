// SPDX-License-Identifier: Apache-2.0
#include "harness/report/report.h"

#include <gtest/gtest.h>

#include "property_tests/report/hand_made.h"

namespace kvexact {
namespace {

using spec::Operation;

Report WithResults(const std::vector<CaseResult>& results, RunDescription description = HandMadeDescription()) {
  Report report = HandMadeReport(std::move(description));
  for (const CaseResult& result : results) report.Add(result, {});
  return report;
}

TEST(Report, RowsAreByOperationAndWindow) {
  const Report report =
      WithResults({RightResult("a", Operation::kIndexerFp8, 5, 128), RightResult("b", Operation::kSparseAttn, 1, 8),
                   RightResult("c", Operation::kSparseAttn, 2, 9), RightResult("d", Operation::kSparseAttn, 3, 64),
                   RightResult("e", Operation::kIndexerQFp8, 7), RightResult("f", Operation::kSparseAttn, 4, 65)});
  std::vector<std::tuple<Operation, std::string, std::int64_t, std::int64_t>> rows;
  for (const ReportRow& row : report.rows()) rows.emplace_back(row.op, row.rows, row.cases, row.total().exact);
  EXPECT_EQ(rows, (std::vector<std::tuple<Operation, std::string, std::int64_t, std::int64_t>>{
                      {Operation::kSparseAttn, "1-8", 1, 1},
                      {Operation::kSparseAttn, "9-64", 2, 5},
                      {Operation::kSparseAttn, "65-1024", 1, 4},
                      {Operation::kIndexerFp8, "65-1024", 1, 5},
                      {Operation::kIndexerQFp8, "-", 1, 7}}));
  EXPECT_EQ(report.total().cases, 6);
  EXPECT_EQ(report.total().total().exact, 22);
}

TEST(Report, ConclusionAndExitStatus) {
  const CaseResult right = RightResult("r", Operation::kFinalize, 5);
  const CaseResult wrong = WrongResult("w", Operation::kFinalize, 5);
  const CaseResult unreadable = StatusResult(CaseStatus::kUnreadable, "x.safetensors: header: is short");
  const CaseResult unsupported = StatusResult(CaseStatus::kUnsupported, "no");
  struct Row {
    std::vector<CaseResult> results;
    Conclusion conclusion;
    int status;
  };
  for (const Row& row :
       {Row{{}, Conclusion::kNone, 3}, Row{{right}, Conclusion::kRight, 0}, Row{{right, wrong}, Conclusion::kWrong, 1},
        Row{{unsupported}, Conclusion::kNone, 3}, Row{{right, unsupported}, Conclusion::kRight, 0},
        Row{{right, unreadable}, Conclusion::kError, 2}, Row{{unreadable}, Conclusion::kError, 2},
        // A fault of the subject is the news.
        Row{{wrong, unreadable}, Conclusion::kWrong, 1},
        Row{{right, StatusResult(CaseStatus::kError, "")}, Conclusion::kWrong, 1},
        Row{{right, StatusResult(CaseStatus::kCrashed, "")}, Conclusion::kWrong, 1}}) {
    const Report report = WithResults(row.results);
    EXPECT_EQ(report.conclusion(), row.conclusion);
    EXPECT_EQ(report.exit_status(), row.status);
  }
}

TEST(Report, EveryKindOfFaultIsWrong) {
  CaseResult touched = RightResult("t", Operation::kFinalize, 5);
  touched.verdict.touched = 1;
  CaseResult unstable = RightResult("u", Operation::kFinalize, 5);
  unstable.unstable[0] = 1;
  CaseResult unwritten = RightResult("n", Operation::kFinalize, 5);
  unwritten.verdict.tally(ElementKind::kCode).unwritten = 1;
  for (const CaseResult& result : {touched, unstable, unwritten}) {
    EXPECT_EQ(WithResults({result}).exit_status(), 1) << result.name;
  }
}

TEST(Report, UnjudgedElementsAloneAreNothingJudged) {
  CaseResult result = RightResult("open", Operation::kFinalize, 0);
  result.verdict.tally(ElementKind::kCode).unjudged = 100;
  EXPECT_EQ(WithResults({result}).exit_status(), 3);
}

TEST(Report, RequireAll) {
  const CaseResult right = RightResult("r", Operation::kFinalize, 5);
  RunDescription description = HandMadeDescription();
  description.require_all = true;
  EXPECT_EQ(WithResults({right}, description).exit_status(), 0);
  EXPECT_EQ(WithResults({right, StatusResult(CaseStatus::kUnsupported, "no")}, description).exit_status(), 3);
  description.operations = {"finalize", "two_stage"};
  const Report report = WithResults({right}, description);
  EXPECT_EQ(report.exit_status(), 3);
  EXPECT_EQ(report.missing_operations(), std::vector<std::string>{"two_stage"});
}

TEST(Report, FirstFailuresAreKeptTheVeryFirstStudiedAndAllCounted) {
  CaseResult result = WrongResult("w", Operation::kFinalize, 2);
  result.verdict.problems.resize(10, result.verdict.problems.front());
  Report report(HandMadeDescription(), [](const std::string& name) { return "repeat " + name; });
  for (int i = 0; i < 1100; ++i) {
    result.name = std::to_string(i);
    report.Add(result, {});
  }
  EXPECT_EQ(report.failing_cases(), 1100);
  ASSERT_EQ(report.failures().size(), Report::kMaxFailures);
  EXPECT_EQ(report.failures().front().repeat, "repeat 0");
  EXPECT_TRUE(report.failures()[Report::kMaxStudied - 1].studied);
  EXPECT_EQ(report.failures()[Report::kMaxStudied - 1].result.verdict.problems.size(), 10U);
  EXPECT_FALSE(report.failures()[Report::kMaxStudied].studied);
  EXPECT_EQ(report.failures()[Report::kMaxStudied].result.verdict.problems.size(), Report::kMaxProblemsListed);
  EXPECT_EQ(report.total().total().wrong, 1100);
}

// `cases` equal cases, of each of which `several` of 100 sets have several members and `differing` elements differ.
std::vector<Drift> DriftOf(ElementKind kind, std::int64_t differing, std::int64_t several, int cases) {
  CaseResult result = RightResult("d", Operation::kFinalize, 100);
  Tally& tally = result.verdict.tally(kind);
  tally.exact = 100 - differing;
  tally.allowed = differing;
  tally.single = 100 - several;
  result.differing[static_cast<std::size_t>(kind)] = differing;
  return WithResults(std::vector<CaseResult>(static_cast<std::size_t>(cases), result)).drift();
}

TEST(Report, DriftIsFlaggedWhereMostOpenSetsDiffer) {
  EXPECT_TRUE(DriftOf(ElementKind::kCode, 5, 10, 10).empty());
  const std::vector<Drift> found = DriftOf(ElementKind::kCode, 6, 10, 10);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, ElementKind::kCode);
  EXPECT_EQ(found[0].differing, 60);
  EXPECT_EQ(found[0].open_sets, 100);
  EXPECT_EQ(found[0].drifting_cases, 10);
  EXPECT_EQ(found[0].open_cases, 10);
  EXPECT_TRUE(DriftOf(ElementKind::kCode, 6, 9, 10).empty()) << "90 sets are too few";
  EXPECT_TRUE(DriftOf(ElementKind::kCode, 60, 100, 9).empty()) << "9 cases are too few";
  EXPECT_EQ(DriftOf(ElementKind::kBf16, 80, 90, 12).size(), 1U);
  EXPECT_EQ(DriftOf(ElementKind::kScale, 80, 90, 12).size(), 1U);
  EXPECT_TRUE(DriftOf(ElementKind::kFp32, 90, 100, 20).empty());
  EXPECT_TRUE(DriftOf(ElementKind::kWeight, 90, 100, 20).empty());
}

TEST(Report, OneCaseWithManyDifferencesIsNoDrift) {
  CaseResult still = RightResult("still", Operation::kFinalize, 100);
  still.verdict.tally(ElementKind::kCode).single = 95;
  CaseResult moved = RightResult("moved", Operation::kFinalize, 0);
  Tally& tally = moved.verdict.tally(ElementKind::kCode);
  tally.allowed = 448;
  moved.differing[static_cast<std::size_t>(ElementKind::kCode)] = 448;
  std::vector<CaseResult> results(10, still);
  results.push_back(moved);
  EXPECT_TRUE(WithResults(results).drift().empty());
  for (int i = 0; i < 11; ++i) results.push_back(moved);
  EXPECT_EQ(WithResults(results).drift().size(), 1U);
}

TEST(Report, TheOtherZeroIsNoDrift) {
  CaseResult result = RightResult("z", Operation::kFinalize, 100);
  result.verdict.tally(ElementKind::kCode).allowed = 50;  // none of which differs in value
  EXPECT_TRUE(WithResults(std::vector<CaseResult>(20, result)).drift().empty());
}

TEST(Report, TightnessAndWidth) {
  EXPECT_FALSE(Tightness(Tally{}).has_value());
  Tally tally;
  tally.exact = 6;
  tally.wrong = 2;
  tally.unjudged = 100;
  tally.single = 4;
  tally.width_ulp = 20;
  EXPECT_DOUBLE_EQ(*Tightness(tally), 50);
  EXPECT_DOUBLE_EQ(*MeanWidth(tally), 2.5);
  ReportRow row;
  row.tallies[static_cast<std::size_t>(ElementKind::kCode)] = tally;
  row.tallies[static_cast<std::size_t>(ElementKind::kFp32)].exact = 1000;
  EXPECT_DOUBLE_EQ(*PooledTightness(row), 50);
}

}  // namespace
}  // namespace kvexact
