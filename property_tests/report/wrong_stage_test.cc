// SPDX-License-Identifier: Apache-2.0
// The stage that a failure's values point at, for faults whose stage is known.
#include "harness/report/wrong_stage.h"

#include <gtest/gtest.h>

#include "harness/faults/fault_backend.h"
#include "harness/generate/generate.h"
#include "harness/run/run_case.h"

namespace kvexact {
namespace {

struct Row {
  const char* fault;
  const char* spec;
  const char* stage;
};

class StageOf : public testing::TestWithParam<Row> {};

TEST_P(StageOf, KnownFault) {
  const Case c = Generate(ParseSpec(GetParam().spec));
  const auto backend = OpenFaultBackend(std::string("fault:") + GetParam().fault);
  const JudgeOptions options;
  const CaseResult result = RunCase(*backend, c, options);
  ASSERT_FALSE(result.right());
  ASSERT_NE(result.evidence, nullptr);
  const FailureMap map = MapOf(*result.evidence, options, result);
  const WrongStage found = FirstWrongStage(*result.evidence, options, map);
  EXPECT_EQ(found.stage, GetParam().stage) << found.why;
  EXPECT_FALSE(found.why.empty());

  // The map agrees with the verdict: every wrong element is in it, or in a row that is left out.
  const Tally total = result.verdict.total();
  std::int64_t wrong = 0;
  for (const MapRow& row : map.rows) {
    wrong += std::count(row.cells.begin(), row.cells.end(), 'w') + std::count(row.cells.begin(), row.cells.end(), 'n');
  }
  if (map.more_wrong_rows == 0) {
    EXPECT_EQ(wrong, total.wrong + total.unwritten);
  }
  if (!map.rows.empty()) {
    EXPECT_GT(wrong, 0);
  }
}

constexpr const char* kSparse = "op=sparse_attn seed=3 requests=0+16";
constexpr const char* kMxfp4 = "op=indexer_mxfp4 seed=3 requests=0+16";
constexpr const char* kQ = "op=indexer_q_fp8 seed=3 requests=5+3 heads=2";

INSTANTIATE_TEST_SUITE_P(
    Faults, StageOf,
    testing::Values(Row{"rope-sign", kSparse, "rope"}, Row{"rope-sign", kQ, "rope"},
                    Row{"norm-no-root", kSparse, "norm"}, Row{"norm-sum", kSparse, "norm"},
                    Row{"gather-drop-oldest", kSparse, "gather or softmax"},
                    Row{"softmax-plain-mean", kSparse, "gather or softmax"},
                    // Codes that no scale of theirs explains are no error of what came before.
                    Row{"fp8-clamp-224", kSparse, "quantise"}, Row{"fp8-e5m2", kSparse, "quantise"},
                    Row{"fp8-e5m2", kQ, "quantise"}, Row{"scale-inverse", kSparse, "scale"},
                    Row{"scale-floor", kMxfp4, "scale"}, Row{"scale-used-not-stored", kSparse, "scale"},
                    Row{"scale-stored-not-used", kSparse, "scale"}, Row{"rope-truncate", kSparse, "rope"},
                    Row{"norm-rrms-bf16", kSparse, "norm"}, Row{"norm-weight-shifted", kSparse, "norm"},
                    Row{"norm-weight-twice", kSparse, "norm"}, Row{"softmax-base2", kSparse, "gather or softmax"},
                    Row{"norm-weight-shifted", "op=finalize seed=3 requests=0+256", "norm"},
                    Row{"scale-reversed", kSparse, "scale"},
                    Row{"scale-bias-128", "op=indexer_mxfp4 seed=3 requests=0+8", "scale"},
                    Row{"store-scale-big-endian", "op=indexer_fp8 seed=3 requests=0+8", "scale"},
                    Row{"store-negative-slot", "op=sparse_attn seed=3 requests=0+16 skip_kv_slots=50", "store"}),
    [](const testing::TestParamInfo<Row>& row) {
      std::string name = std::string(row.param.fault) + std::to_string(row.index);
      std::erase(name, '-');
      return name;
    });

}  // namespace
}  // namespace kvexact
