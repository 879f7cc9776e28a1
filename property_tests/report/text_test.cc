// SPDX-License-Identifier: Apache-2.0
#include "harness/report/text.h"

#include <gtest/gtest.h>

#include "harness/report/table_text.h"
#include "property_tests/report/hand_made.h"

namespace kvexact {
namespace {

using spec::Operation;

TEST(SummaryLine, EmptyRun) {
  EXPECT_EQ(SummaryLine(HandMadeReport()),
            "verdict=none cases=0 elements=0 exact=0 allowed=0 wrong=0 touched=0 unwritten=0 unstable=0 unjudged=0 "
            "unsupported=0 crashed=0 tightness=none policy=seed budget=default");
}

TEST(SummaryLine, CountsOfEveryKind) {
  Report report = HandMadeReport();
  report.Add(WrongResult("w", Operation::kSparseAttn, 10), {});
  CaseResult odd = RightResult("o", Operation::kSparseAttn, 5);
  odd.verdict.touched = 4;
  odd.unstable[1] = 2;
  odd.verdict.tally(ElementKind::kScale) = {
      .exact = 0, .allowed = 1, .wrong = 0, .unwritten = 3, .unjudged = 6, .single = 0};
  report.Add(odd, {});
  report.Add(StatusResult(CaseStatus::kUnsupported, "a"), {});
  report.Add(StatusResult(CaseStatus::kError, "b"), {});
  report.Add(StatusResult(CaseStatus::kCrashed, "c"), {});
  EXPECT_EQ(SummaryLine(report),
            "verdict=wrong cases=5 elements=25 exact=14 allowed=1 wrong=1 touched=4 unwritten=3 unstable=2 unjudged=6 "
            "unsupported=1 crashed=2 tightness=78.9474 policy=seed budget=default");
}

TEST(FailureText, NamesElementPlaceValuesAndCommand) {
  Report report = HandMadeReport();
  report.Add(WrongResult("op=sparse_attn seed=5", Operation::kSparseAttn, 448), {});
  EXPECT_EQ(FailureText(report.failures().at(0), report.description()),
            "sparse_attn: 1 wrong of 448 elements\n"
            "  case op=sparse_attn seed=5\n"
            "  wrong     code 17 of token 3 (kv_cache byte 1234): observed 0x3A (1.25), expected 0x3B (1.375), "
            "allowed 0x3B (1.375) .. 0x3C (1.5)\n"
            "  judged under policy seed, budget default; no other named budget admits it\n"
            "  repeat: repeat <op=sparse_attn seed=5>\n");
}

TEST(FailureText, TouchedUnstableAndHeads) {
  CaseResult result = RightResult("q", Operation::kIndexerQFp8, 128);
  result.verdict.touched = 1;
  result.unstable[static_cast<std::size_t>(ElementKind::kWeight)] = 1;
  Problem touched;
  touched.what = Problem::What::kTouched;
  touched.buffer = "q_fp8";
  touched.byte_offset = 9;
  touched.observed = "0x01";
  touched.expected = "0x00";
  touched.allowed = "unchanged";
  Problem unstable;
  unstable.what = Problem::What::kUnstable;
  unstable.kind = ElementKind::kWeight;
  unstable.buffer = "weights_out";
  unstable.byte_offset = 28;
  unstable.token = 1;
  unstable.head = 2;
  unstable.element = 0;
  unstable.observed = "0x3F800000, in a second run 0x3F800001";
  unstable.expected = "the same value in every run";
  result.verdict.problems = {touched, unstable};
  Report report = HandMadeReport();
  report.Add(result, {});
  EXPECT_EQ(FailureText(report.failures().at(0), report.description()),
            "indexer_q_fp8: 1 touched, 1 unstable of 128 elements\n"
            "  case q\n"
            "  touched   q_fp8 byte 9: observed 0x01, expected 0x00\n"
            "  unstable  weight 0 of token 1, head 2 (weights_out byte 28): observed 0x3F800000, in a second run "
            "0x3F800001, expected the same value in every run\n"
            "  judged under policy seed, budget default\n"
            "  repeat: repeat <q>\n");
}

TEST(FailureText, ErrorOfTheSubjectIsPrintable) {
  Report report = HandMadeReport();
  report.Add(StatusResult(CaseStatus::kError, "run: bad\n\x1b[31m"), {});
  EXPECT_EQ(FailureText(report.failures().at(0), report.description()),
            "finalize: error: run: bad\\x0a\\x1b[31m\n"
            "  case some case\n"
            "  judged under policy seed, budget default\n"
            "  repeat: repeat <some case>\n");
}

TEST(FailureText, LongListsAreCut) {
  CaseResult result = WrongResult("many", Operation::kSparseAttn, 448);
  result.verdict.problems.resize(40, result.verdict.problems.front());
  Report report = HandMadeReport();
  report.Add(result, {});
  const std::string text = FailureText(report.failures().at(0), report.description());
  EXPECT_NE(text.find("\n  ...\n"), std::string::npos);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 15);
}

TEST(ReportText, HeadTotalsAndEnds) {
  RunDescription description = HandMadeDescription();
  description.max_configs = 24;
  description.shard = Shard{1, 4};
  description.require_all = true;
  description.operations = {"two_stage"};
  Report report = HandMadeReport(description);
  report.Add(RightResult("a", Operation::kSparseAttn, 100, 8), {});
  report.Add(StatusResult(CaseStatus::kUnsupported, "only head 128"), {});
  report.Add(StatusResult(CaseStatus::kUnsupported, "only head 128"), {});
  report.Add(StatusResult(CaseStatus::kUnreadable, "x.safetensors: header: is short"), {});
  const std::string text = ReportText(report);
  for (const char* line :
       {"verify mine (2.1; H200): policy seed, budget default, seed 7, at most 24 configurations, shard 1/4\n",
        "operation    window  cases  tokens  elements  exact  allowed  wrong  touched  unwritten  unstable  unjudged   "
        " "
        "code%  scale%  bf16%  weight%  fp32 ulp\n"
        "sparse_attn  1-8         1       1       100    100        0      0        0          0         0         0  "
        "100.000       -      -        -         -\n",
        "\nunsupported: 2 cases: only head 128\n", "\nunreadable: x.safetensors: header: is short\n",
        "\nrequired: nothing of two_stage was judged\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "not in\n" << text;
  }
}

TEST(TableText, ColumnsAreAsWideAsTheirWidestCell) {
  EXPECT_EQ(TableText({{"a", "bb", "c"}, {"dddd", "e", "ffffff"}}, 1), "a     bb       c\ndddd   e  ffffff\n");
}

}  // namespace
}  // namespace kvexact
