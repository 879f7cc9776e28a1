// SPDX-License-Identifier: Apache-2.0
// Maps of more rows and ranges than are shown.
#include "harness/report/failure_map.h"

#include <gtest/gtest.h>

#include <cstring>

#include "harness/faults/fault_backend.h"
#include "harness/generate/generate.h"
#include "harness/run/run_case.h"

namespace kvexact {
namespace {

constexpr auto kShown = static_cast<std::int64_t>(FailureMap::kMaxRows);

FailureMap MapOfFault(const char* fault, const char* spec, CaseVerdict& verdict) {
  const Case c = Generate(ParseSpec(spec));
  const JudgeOptions options;
  const CaseResult result = RunCase(*OpenFaultBackend(fault), c, options);
  EXPECT_NE(result.evidence, nullptr);
  verdict = result.verdict;
  return MapOf(*result.evidence, options, result);
}

TEST(FailureMap, CountsWrongRowsThatAreNotShown) {
  CaseVerdict verdict;
  const FailureMap map = MapOfFault("fault:rope-sign", "op=sparse_attn ratio=4 seed=3 requests=0+400", verdict);
  ASSERT_EQ(verdict.tokens, 100);
  EXPECT_EQ(static_cast<std::int64_t>(map.rows.size()), kShown);
  EXPECT_EQ(kShown + map.more_wrong_rows, verdict.wrong_rows);
  EXPECT_EQ(kShown + map.more_wrong_rows + map.right_rows, verdict.tokens);
  EXPECT_GT(map.more_wrong_rows, 60);
}

TEST(FailureMap, TokensThatWereNotRunAreWrongRows) {
  CaseVerdict verdict;
  const FailureMap map = MapOfFault("fault:launch-limit-32", "op=indexer_q_fp8 seed=3 heads=2 requests=0+90", verdict);
  EXPECT_EQ(static_cast<std::int64_t>(map.rows.size()), kShown);
  EXPECT_EQ(map.rows.front().token, 32);
  EXPECT_EQ(map.more_wrong_rows, 2 * 58 - kShown);
  EXPECT_EQ(map.right_rows, 2 * 32);
}

TEST(FailureMap, CountsTouchedRangesThatAreNotShown) {
  const Case c = Generate(ParseSpec("op=sparse_attn seed=3 requests=0+16 spare_pages=2"));
  Evidence evidence{c, c.outputs_before, c.outputs_before};
  ASSERT_EQ(MakeReferenceBackend()->Run(c, evidence.after).status, RunStatus::kOk);
  Tensor& cache = evidence.after.find("kv_cache")->second;
  std::int64_t touched = 0;
  // Every third byte of the last page, which holds no token.
  for (std::int64_t i = cache.size_bytes() - 1; touched < 40; i -= 3, ++touched) cache.bytes()[i] ^= 1;
  const JudgeOptions options;
  CaseResult result = ResultFor(c);
  result.verdict = Judge(c, options, evidence.before, evidence.after);
  const FailureMap map = MapOf(evidence, options, result);
  EXPECT_TRUE(map.rows.empty());
  EXPECT_EQ(map.touched.size(), FailureMap::kMaxRanges);
  EXPECT_EQ(map.more_touched_ranges, touched - static_cast<std::int64_t>(FailureMap::kMaxRanges));
  for (const TouchedRange& range : map.touched) EXPECT_EQ(range.end - range.begin, 1);
}

}  // namespace
}  // namespace kvexact
