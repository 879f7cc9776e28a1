// SPDX-License-Identifier: Apache-2.0
#include "harness/report/merge.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "harness/case/input_error.h"
#include "harness/report/json.h"
#include "harness/report/text.h"
#include "property_tests/report/hand_made.h"

namespace kvexact {
namespace {

using spec::Operation;

// Results of a run, some of them wrong, unsupported or crashed.
std::vector<CaseResult> Results() {
  std::vector<CaseResult> results;
  for (int i = 0; i < 40; ++i) {
    const auto op = static_cast<Operation>(i % 5);
    CaseResult result = i % 7 == 3 ? WrongResult("w" + std::to_string(i), op, 100 + i)
                                   : RightResult(std::string("r") + std::to_string(i), op, 100 + i, i);
    if (i % 11 == 5) result = StatusResult(CaseStatus::kUnsupported, "reason " + std::to_string(i % 2));
    if (i % 13 == 6) result = StatusResult(CaseStatus::kCrashed, "boom");
    results.push_back(result);
  }
  return results;
}

NamedReport PartOfRun(std::int64_t index, std::int64_t count, const std::function<void(RunDescription&)>& change = {}) {
  RunDescription description = HandMadeDescription();
  description.shard = Shard{index, count};
  description.cases = 40;
  if (change) change(description);
  Report report = HandMadeReport(description);
  const std::vector<CaseResult> results = Results();
  for (auto i = static_cast<std::size_t>(index); i < results.size(); i += static_cast<std::size_t>(count)) {
    report.Add(results[i], {});
  }
  return {"shard" + std::to_string(index) + ".json", report};
}

std::string ErrorOf(const std::vector<NamedReport>& reports) {
  try {
    MergeReports(reports);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(MergeReports, CountsAreThoseOfOneRun) {
  Report whole = HandMadeReport();
  for (const CaseResult& result : Results()) whole.Add(result, {});
  const Report merged = MergeReports({PartOfRun(2, 3), PartOfRun(0, 3), PartOfRun(1, 3)});
  EXPECT_EQ(SummaryLine(merged), SummaryLine(whole));
  EXPECT_EQ(merged.failing_cases(), whole.failing_cases());
  EXPECT_EQ(merged.unsupported(), whole.unsupported());
  ASSERT_EQ(merged.rows().size(), whole.rows().size());
  for (std::size_t i = 0; i < whole.rows().size(); ++i) {
    EXPECT_EQ(merged.rows()[i].op, whole.rows()[i].op);
    EXPECT_EQ(merged.rows()[i].rows, whole.rows()[i].rows);
    EXPECT_EQ(merged.rows()[i].cases, whole.rows()[i].cases);
    EXPECT_EQ(merged.rows()[i].total().exact, whole.rows()[i].total().exact);
  }
  EXPECT_EQ(merged.parts().merged_shards, 3);
  EXPECT_TRUE(merged.parts().missing_shards.empty());
}

TEST(MergeReports, AMissingShardIsNamedAndNothingIsRightWithoutIt) {
  Report right = HandMadeReport([] {
    RunDescription d = HandMadeDescription();
    d.shard = Shard{0, 3};
    return d;
  }());
  right.Add(RightResult("r", Operation::kFinalize, 5), {});
  const Report merged = MergeReports({{"a.json", right}});
  EXPECT_EQ(merged.parts().missing_shards, (std::vector<std::string>{"1/3", "2/3"}));
  EXPECT_EQ(merged.conclusion(), Conclusion::kNone);
  EXPECT_EQ(merged.exit_status(), 3);
  EXPECT_NE(ReportText(merged).find("\nmissing: shard 1/3\nmissing: shard 2/3\n"), std::string::npos);
  EXPECT_EQ(MergeReports({PartOfRun(0, 2)}).conclusion(), Conclusion::kWrong) << "a fault of the subject is the news";
}

TEST(MergeReports, OnlyPartsOfOneRunAreMerged) {
  EXPECT_EQ(ErrorOf({}), "merge: reports: none was given");
  EXPECT_EQ(ErrorOf({PartOfRun(0, 2), PartOfRun(0, 2)}), "shard0.json: shard: 0/2 is in shard0.json too");
  EXPECT_EQ(ErrorOf({PartOfRun(0, 2), PartOfRun(1, 3)}), "shard1.json: shard: is one of 3, and of 2 elsewhere");
  EXPECT_EQ(ErrorOf({PartOfRun(0, 2), PartOfRun(1, 2, [](RunDescription& d) { d.seed = 8; })}),
            "shard1.json: seed: is 8, and 7 in shard0.json");
  EXPECT_EQ(ErrorOf({PartOfRun(0, 2), PartOfRun(1, 2, [](RunDescription& d) { d.cases = 41; })}),
            "shard1.json: cases: is 41, and 40 in shard0.json");
  EXPECT_EQ(ErrorOf({PartOfRun(0, 2), PartOfRun(1, 2, [](RunDescription& d) { d.budget = "online"; })}),
            "shard1.json: budget: is online, and default in shard0.json");
  EXPECT_EQ(ErrorOf({PartOfRun(0, 2), PartOfRun(1, 2, [](RunDescription& d) { d.shard.reset(); })}),
            "shard1.json: shard: is missing: no part of a run");
  ReportParts other = PartOfRun(1, 2).report.parts();
  other.environment.git_revision = "elsewhere";
  EXPECT_NE(ErrorOf({PartOfRun(0, 2), {"x", Report(other)}}).find("x: git_revision: is elsewhere, and "),
            std::string::npos);
}

TEST(MergeReports, StudiedFailuresComeFirstAndAtMostAThousandStay) {
  std::vector<NamedReport> parts;
  for (int shard = 0; shard < 3; ++shard) {
    RunDescription description = HandMadeDescription();
    description.shard = Shard{shard, 3};
    Report report = HandMadeReport(description);
    for (int i = 0; i < 500; ++i) report.Add(WrongResult("w", Operation::kFinalize, 2), {});
    parts.push_back({"s" + std::to_string(shard), report});
  }
  const Report merged = MergeReports(parts);
  EXPECT_EQ(merged.failing_cases(), 1500);
  ASSERT_EQ(merged.failures().size(), Report::kMaxFailures);
  EXPECT_TRUE(merged.failures()[3 * Report::kMaxStudied - 1].studied);
  EXPECT_FALSE(merged.failures()[3 * Report::kMaxStudied].studied);
}

TEST(PartOf, PartsOfAShardAreItsCases) {
  const Shard shard{2, 3};
  std::vector<bool> seen(60);
  for (std::int64_t part = 0; part < 4; ++part) {
    const Shard own = PartOf(shard, part, 4);
    for (std::int64_t i = own.index; i < 60; i += own.count) {
      EXPECT_EQ(i % 3, 2);
      EXPECT_FALSE(seen[static_cast<std::size_t>(i)]);
      seen[static_cast<std::size_t>(i)] = true;
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 20);
}

TEST(ReadReportJson, PrintsTheSameAgain) {
  const Report report = PartOfRun(1, 3).report;
  const std::string json = ReportJson(report);
  EXPECT_EQ(ReportJson(ReadReportJson(json, "x")), json);
  EXPECT_EQ(ReportText(ReadReportJson(json, "x")), ReportText(report));
}

TEST(ReadReportJson, DamagedTextIsAnErrorThatNamesTheFile) {
  const std::string json = ReportJson(PartOfRun(1, 3).report);
  std::uint64_t state = 1;
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    std::string damaged = json;
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::size_t at = (state >> 33) % json.size();
    switch (i % 3) {
      case 0:
        damaged[at] = static_cast<char>(state >> 24);
        break;
      case 1:
        damaged.resize(at);
        break;
      default:
        damaged.erase(at, 1 + (state >> 20) % 9);
    }
    try {
      ReadReportJson(damaged, "some.json");
    } catch (const InputError& e) {
      ++refused;
      EXPECT_TRUE(std::string(e.what()).starts_with("some.json: ")) << e.what();
    }
  }
  EXPECT_GT(refused, 800);
}

TEST(ReadReportJson, CountsThatContradictEachOtherAreRefused) {
  const nlohmann::json right = nlohmann::json::parse(ReportJson(PartOfRun(1, 3).report));
  const auto error = [&](const std::string& patch) {
    try {
      ReadReportJson(right.patch(nlohmann::json::parse(patch)).dump(), "r");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  const auto starts = [&](const std::string& patch, const std::string& text) {
    EXPECT_TRUE(error(patch).starts_with("r: " + text)) << error(patch);
  };
  EXPECT_EQ(error("[]"), "none");
  starts(R"([{"op": "replace", "path": "/verdict", "value": "error"}])", "verdict: does not follow from the counts: ");
  starts(R"([{"op": "replace", "path": "/total/wrong", "value": 123456}])", "total.wrong: is not the rows' sum, ");
  starts(R"([{"op": "replace", "path": "/failing_cases", "value": 0}])", "failing_cases: is ");
  starts(R"([{"op": "copy", "from": "/rows/0", "path": "/rows/1"}])",
         "rows[1]: is of an operation and a class of windows");
  starts(R"([{"op": "replace", "path": "/seconds", "value": -1}])", "seconds: must not be below zero");
}

TEST(ReadReportJson, TextIsPrintable) {
  nlohmann::json json = nlohmann::json::parse(ReportJson(PartOfRun(1, 3).report));
  json["run"]["policy"] = "\x1b[31m\n";
  const Report report = ReadReportJson(json.dump(), "r");
  EXPECT_EQ(report.description().policy, "\\x1b[31m\\x0a");
}

TEST(ReadReportJson, FieldsOfTheWrongKindAreNamed) {
  const auto error = [](const std::string& from, const std::string& to) {
    std::string json = ReportJson(PartOfRun(1, 3).report);
    const std::size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    try {
      ReadReportJson(json, "r");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(error("kvexact-report/2", "kvexact-report/9"), "r: schema: is not kvexact-report/2");
  EXPECT_EQ(error("\"shard\": \"1/3\"", "\"shard\": \"3/3\""), "r: run.shard: must be I/N with 0 <= I < N");
  EXPECT_EQ(error("\"failing_cases\": ", "\"x\": " + std::string(500000, '[') + std::string(500000, ']') + ", \"y\": "),
            "r: JSON: nests deeper than 32");
  EXPECT_EQ(error("\"failing_cases\": ", "\"failing_cases\": -"), "r: failing_cases: must be a count from 0 to 2^53");
  EXPECT_EQ(error("\"window_rows\": \"1-8\"", "\"window_rows\": \"2\""),
            "r: rows[3].window_rows: is no class of windows: 2");
  EXPECT_EQ(error("{", std::string("{") + '\0'), "r: JSON: holds a zero byte");
  EXPECT_EQ(error("\"schema\":", "\"schema\": 1, \"schema\":"), "r: JSON: has the key schema twice in one object");
}

}  // namespace
}  // namespace kvexact
