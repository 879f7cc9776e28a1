// SPDX-License-Identifier: Apache-2.0
#include "harness/report/explanation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/backend/backend.h"
#include "harness/case/token_fate.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

const ExplanationTable& TableNamed(const Explanation& explanation, const std::string& title) {
  for (const ExplanationTable& table : explanation.tables) {
    if (table.title.starts_with(title)) return table;
  }
  ADD_FAILURE() << "no table " << title;
  static const ExplanationTable kNone;
  return kNone;
}

// Cell of the line whose first cell is `line`, in the column of that header.
std::string Cell(const ExplanationTable& table, const std::string& line, const std::string& header) {
  const auto column = std::find(table.header.begin(), table.header.end(), header) - table.header.begin();
  for (const auto& cells : table.lines) {
    if (cells.at(0) == line) return cells.at(static_cast<std::size_t>(column));
  }
  ADD_FAILURE() << "no line " << line;
  return {};
}

class ExplainTest : public testing::Test {
 protected:
  static Case Of(const std::string& spec) { return Generate(ParseSpec(spec)); }
  static TensorMap Strict(const Case& c) {
    TensorMap outputs = c.outputs_before;
    MakeReferenceBackend()->Run(c, outputs);
    return outputs;
  }
};

TEST_F(ExplainTest, EveryTokenOfEveryOperationIsExplainedAsItsFateSays) {
  for (const char* spec :
       {"op=sparse_attn ratio=2 overlap=true requests=0+9 skip_slots=20 skip_kv_slots=20 tail=2 garbage=skipped",
        "op=indexer_fp8 ratio=4 requests=0+9 skip_kv_slots=50", "op=indexer_mxfp4 ratio=4 requests=0+9 special=nan",
        "op=two_stage ratio=4 requests=0+9", "op=gather_split ratio=4 scratch_pad=3 requests=0+9",
        "op=finalize ratio=2 requests=0+9 special=inf", "op=indexer_q_fp8 heads=2 requests=0+2 tail=1",
        "op=indexer_q_mxfp4 heads=2 out_type=bf16 requests=0+2 special=nan"}) {
    const Case c = Of(spec);
    const TensorMap outputs = Strict(c);
    const std::vector<TokenFate> fates = TokenFates(c);
    for (std::size_t t = 0; t < fates.size(); ++t) {
      ExplainRequest request{static_cast<std::int64_t>(t), 0, {}};
      for (int i = 0; i < c.params.head_dim; ++i) request.columns.push_back(i);
      const Explanation explanation = Explain(c, {}, request, &outputs);
      EXPECT_FALSE(explanation.facts.empty());
      EXPECT_EQ(explanation.tables.empty(), fates[t] != TokenFate::kLive) << spec << " token " << t;
      // What the model stored is exact wherever there is a finding.
      const std::string text = ExplanationText(explanation);
      EXPECT_EQ(text.find("wrong"), std::string::npos) << text;
      EXPECT_EQ(text.find("allowed\n"), std::string::npos) << text;
      if (fates[t] == TokenFate::kLive) {
        EXPECT_NE(text.find("exact\n"), std::string::npos) << text;
      }
    }
  }
}

TEST_F(ExplainTest, RowsNameTheirPhysicalBlocks) {
  const Case c = Of("op=indexer_fp8 ratio=2 overlap=true block=3 requests=0+4");
  const Explanation explanation = Explain(c, {}, {1, 0, {0}}, nullptr);
  const ExplanationTable& rows = TableNamed(explanation, "rows that request 0 gathers");
  ASSERT_EQ(rows.lines.size(), 4U);
  EXPECT_EQ(Cell(rows, "0", "state block"), "before position 0: not read");
  EXPECT_EQ(Cell(rows, "2", "position"), "0");
  EXPECT_EQ(Cell(rows, "2", "state block"), std::to_string(c.inputs.at("block_table").as<std::int32_t>()[0]));
  EXPECT_EQ(Cell(rows, "2", "first column"), "128");
  EXPECT_EQ(Cell(rows, "1", "first column"), "-");
  EXPECT_EQ(Cell(TableNamed(explanation, "scales"), "0", "observed"), "-");
}

TEST_F(ExplainTest, SoftmaxOfEqualScoresIsEven) {
  const Case c = Of("op=indexer_fp8 ratio=4 overlap=false scores=flat values=one requests=0+4");
  const Explanation explanation = Explain(c, {}, {3, 0, {5}}, nullptr);
  const ExplanationTable& column = TableNamed(explanation, "column 5");
  for (const char* row : {"0", "1", "2", "3"}) {
    EXPECT_EQ(Cell(column, row, "weight"), "0.25");
    EXPECT_EQ(Cell(column, row, "KV"), "1");
  }
  EXPECT_EQ(Cell(TableNamed(explanation, "values before rounding"), "5", "compressed"), "1");
}

TEST_F(ExplainTest, WrongCodeScaleAndRopeValueAreFound) {
  const Case c = Of("op=sparse_attn ratio=2 requests=0+2 base=576");
  TensorMap outputs = Strict(c);
  const spec::PagedCache cache = CacheOf(c);
  const std::int64_t slot = c.inputs.at("kv_slot_mapping").as<std::int64_t>()[1];
  outputs.at("kv_cache").bytes()[cache.codes(slot) + 70] ^= 0x80;
  outputs.at("kv_cache").bytes()[cache.rope(slot) + 2 * 5 + 1] ^= 0x80;
  const CaseVerdict verdict = Judge(c, {}, c.outputs_before, outputs);
  EXPECT_EQ(FaultyColumns(c, verdict, 1, 0, 4), (std::vector<int>{70, 453}));
  EXPECT_EQ(FaultyColumns(c, verdict, 1, 0, 1), std::vector<int>{70});
  EXPECT_TRUE(FaultyColumns(c, verdict, 0, 0, 4).empty());
  const Explanation explanation = Explain(c, {}, {1, 0, {70, 71, 453}}, &outputs);
  const ExplanationTable& codes = TableNamed(explanation, "codes");
  EXPECT_EQ(Cell(codes, "70", "finding"), "wrong");
  EXPECT_EQ(Cell(codes, "71", "finding"), "exact");
  EXPECT_EQ(Cell(TableNamed(explanation, "bf16 values"), "453", "finding"), "wrong");
  EXPECT_EQ(Cell(TableNamed(explanation, "scales"), "1", "finding"), "exact");
  outputs.at("kv_cache").bytes()[cache.scales(slot) + 1] += 3;
  EXPECT_EQ(Cell(TableNamed(Explain(c, {}, {1, 0, {70}}, &outputs), "scales"), "1", "finding"), "wrong");
}

TEST_F(ExplainTest, WeightOfAQHead) {
  const Case c = Of("op=indexer_q_fp8 heads=3 requests=7+2 weights=one");
  TensorMap outputs = Strict(c);
  const Explanation explanation = Explain(c, {}, {1, 2, {0, 127}}, &outputs);
  const ExplanationTable& weight = TableNamed(explanation, "folded weight");
  ASSERT_EQ(weight.lines.size(), 1U);
  EXPECT_EQ(weight.lines[0].front(), "1");
  EXPECT_EQ(weight.lines[0].back(), "exact");
  outputs.at("weights_out").as<std::uint32_t>()[1 * 3 + 2] ^= 0x80000000U;
  EXPECT_EQ(TableNamed(Explain(c, {}, {1, 2, {0}}, &outputs), "folded weight").lines[0].back(), "wrong");
  EXPECT_EQ(TableNamed(Explain(c, {}, {1, 1, {0}}, &outputs), "folded weight").lines[0].back(), "exact");
}

TEST_F(ExplainTest, WhatTheCaseDoesNotHaveIsRefused) {
  const Case c = Of("op=indexer_q_fp8 heads=3 requests=0+2");
  for (const ExplainRequest& request : {ExplainRequest{2, 0, {0}}, ExplainRequest{-1, 0, {0}},
                                        ExplainRequest{0, 3, {0}}, ExplainRequest{0, 0, {128}}}) {
    EXPECT_THROW(Explain(c, {}, request, nullptr), InputError);
  }
}

}  // namespace
}  // namespace kvexact
