// SPDX-License-Identifier: Apache-2.0
#include "harness/report/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/report/hand_made.h"

namespace kvexact {
namespace {

using nlohmann::json;
using spec::Operation;

TEST(ReportJson, HoldsWhatTheTextSays) {
  Report report = HandMadeReport();
  report.Add(WrongResult("w", Operation::kSparseAttn, 10), {});
  report.Add(StatusResult(CaseStatus::kUnsupported, "no"), {});
  report.Add(StatusResult(CaseStatus::kUnreadable, "x: header: is short"), {});
  const json document = json::parse(ReportJson(report));
  EXPECT_EQ(document["schema"], "kvexact-report/2");
  EXPECT_EQ(document["verdict"], "wrong");
  EXPECT_EQ(document["exit_status"], 1);
  EXPECT_EQ(document["run"]["seed"], 7);
  EXPECT_EQ(document["subject"]["device"], "H200");
  EXPECT_EQ(document["total"]["cases"], 2);
  EXPECT_EQ(document["total"]["wrong"], 1);
  EXPECT_EQ(document["total"]["unsupported_cases"], 1);
  EXPECT_EQ(document["total"]["tightness_percent"], 100.0);
  ASSERT_EQ(document["rows"].size(), 2U);
  EXPECT_EQ(document["rows"][0]["operation"], "sparse_attn");
  EXPECT_EQ(document["rows"][0]["kinds"]["code"]["exact"], 9);
  EXPECT_FALSE(document["rows"][0]["kinds"].contains("fp32"));
  EXPECT_TRUE(document["rows"][1]["tightness_percent"].is_null());
  const json problem = document["failures"][0]["problems"][0];
  EXPECT_EQ(problem["what"], "wrong");
  EXPECT_EQ(problem["kind"], "code");
  EXPECT_EQ(problem["byte_offset"], 1234);
  EXPECT_FALSE(problem.contains("head"));
  EXPECT_EQ(document["failures"][0]["repeat"], "repeat <w>");
  EXPECT_EQ(document["unreadable"][0], "x: header: is short");
  EXPECT_EQ(document["unsupported"][0]["cases"], 1);
}

TEST(ReportJson, TextThatIsNoUtf8IsReplaced) {
  Report report = HandMadeReport();
  report.Add(StatusResult(CaseStatus::kError, "\xFF\xC0 broken"), {});
  const json document = json::parse(ReportJson(report));
  EXPECT_NE(document["failures"][0]["message"].get<std::string>().find("broken"), std::string::npos);
}

TEST(ReportJson, EmptyRunHasNoRates) {
  const json document = json::parse(ReportJson(HandMadeReport()));
  EXPECT_EQ(document["verdict"], "none");
  EXPECT_TRUE(document["total"]["tightness_percent"].is_null());
  EXPECT_TRUE(document["rows"].empty());
}

}  // namespace
}  // namespace kvexact
