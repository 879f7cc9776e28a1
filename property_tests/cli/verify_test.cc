// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "property_tests/cli/directory.h"
#include "property_tests/cli/program.h"

namespace kvexact {
namespace {

std::string Library(const std::string& name) {
  return "lib:" + std::string(KVEXACT_TEST_LIBRARIES) + "/" + name + ".so";
}

class VerifyTest : public DirectoryTest {};

TEST_F(VerifyTest, HonestPortIsRight) {
  const ProgramResult result = RunProgram({"verify", "--backend", "host", "--cases", "48", "--quiet"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(result.last_line().starts_with("verdict=right cases=48 elements=")) << result.out;
  EXPECT_EQ(ValueOf(result.last_line(), "wrong"), "0");
  EXPECT_EQ(ValueOf(result.last_line(), "policy"), "seed");
  EXPECT_EQ(ValueOf(result.last_line(), "budget"), "default");
}

TEST_F(VerifyTest, SameSeedGivesTheSameTextOnAnyNumberOfThreads) {
  const auto run = [](const char* threads) {
    return RunProgram({"verify", "--backend", "reference", "--cases", "30", "--seed", "5", "--threads", threads}).out;
  };
  const std::string one = run("1");
  EXPECT_NE(one.find("seed 5"), std::string::npos);
  EXPECT_EQ(run("3"), one);
}

TEST_F(VerifyTest, RandomSeedIsPrintedAndRepeats) {
  const ProgramResult first = RunProgram({"verify", "--backend", "reference", "--cases", "5", "--seed", "random"});
  EXPECT_EQ(first.status, 0);
  const std::size_t at = first.out.find(", seed ");
  ASSERT_NE(at, std::string::npos);
  const std::string seed = first.out.substr(at + 7, first.out.find(',', at + 7) - at - 7);
  EXPECT_EQ(RunProgram({"verify", "--backend", "reference", "--cases", "5", "--seed", seed}).out, first.out);
}

TEST_F(VerifyTest, ShardsAddUpToTheWholeRun) {
  const auto elements = [](const std::vector<std::string>& shard) {
    std::vector<std::string> arguments = {"verify", "--backend", "reference", "--cases", "20"};
    arguments.insert(arguments.end(), shard.begin(), shard.end());
    const ProgramResult result = RunProgram(arguments);
    return std::pair(std::stoll(ValueOf(result.last_line(), "cases")),
                     std::stoll(ValueOf(result.last_line(), "elements")));
  };
  decltype(elements({})) sum;
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    const auto part = elements({"--shard", shard});
    sum.first += part.first;
    sum.second += part.second;
  }
  EXPECT_EQ(sum.first, 20);
  EXPECT_TRUE(sum == elements({}));
}

TEST_F(VerifyTest, OnlyTheOperationsAskedFor) {
  const ProgramResult result = RunProgram(
      {"verify", "--backend", "host", "--cases", "10", "--op", "indexer_q_fp8", "--op", "finalize", "--require-all"});
  EXPECT_EQ(result.status, 0);
  EXPECT_NE(result.out.find("\nindexer_q_fp8 "), std::string::npos);
  EXPECT_NE(result.out.find("\nfinalize "), std::string::npos);
  EXPECT_EQ(result.out.find("\nsparse_attn "), std::string::npos);
}

TEST_F(VerifyTest, TimeEndsTheRun) {
  const ProgramResult result = RunProgram({"verify", "--backend", "reference", "--time", "1s", "--quiet"});
  EXPECT_EQ(result.status, 0);
  EXPECT_GE(std::stoll(ValueOf(result.last_line(), "cases")), 1);
}

TEST_F(VerifyTest, LibraryThatStoresNothingIsAtFaultAndTheCommandRepeatsIt) {
  const ProgramResult result =
      RunProgram({"verify", "--backend", Library("working"), "--op", "finalize", "--cases", "4", "--quiet"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "wrong");
  EXPECT_EQ(ValueOf(result.last_line(), "unwritten"), ValueOf(result.last_line(), "elements"));
  EXPECT_EQ(ValueOf(result.last_line(), "policy"), "poisoned");
  const std::string mark = "  repeat: ";
  const std::size_t at = result.out.find(mark);
  ASSERT_NE(at, std::string::npos) << result.out;
  const std::size_t begin = at + mark.size();
  const ProgramResult again = RunShell(result.out.substr(begin, result.out.find('\n', begin) - begin));
  EXPECT_EQ(again.status, 1) << again.err;
  EXPECT_EQ(ValueOf(again.last_line(), "cases"), "1");
  // The same failure, word for word.
  const std::size_t failure = result.out.find("finalize: ");
  const std::size_t end = result.out.find('\n', begin);
  EXPECT_NE(again.out.find(result.out.substr(failure, end - failure)), std::string::npos) << again.out;
}

TEST_F(VerifyTest, ErrorsOfTheSubjectCountAsCrashed) {
  const ProgramResult result = RunProgram({"verify", "--backend", Library("run_fails"), "--cases", "3", "--quiet"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(ValueOf(result.last_line(), "crashed"), "3");
  EXPECT_NE(result.out.find("out of registers"), std::string::npos);
}

TEST_F(VerifyTest, GenAndExplainTellAFailingSubjectFromBadInput) {
  const auto expect = [](const ProgramResult& result, int status, const char* says) {
    EXPECT_EQ(result.status, status);
    ASSERT_EQ(result.err_lines().size(), 1U) << result.err;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  const std::vector<std::string> explain = {"explain", "op=indexer_fp8", "--token", "3", "--backend"};
  const std::vector<std::string> gen = {"gen", "--op", "indexer_fp8", "--cases", "1", "--out", Path("out"), "--record"};
  for (std::vector<std::string> words : {explain, gen}) {
    words.push_back(Library("run_fails"));
    expect(RunProgram(words), 1, "out of registers");
    words.back() = Library("unsupported");
    expect(RunProgram(words), 2, "unsupported: ");
  }
}

TEST_F(VerifyTest, SubjectThatSupportsNothingIsNotJudged) {
  const ProgramResult result = RunProgram({"verify", "--backend", Library("unsupported"), "--cases", "3", "--quiet"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "none");
  EXPECT_EQ(ValueOf(result.last_line(), "unsupported"), "3");
}

TEST_F(VerifyTest, PolicyAndBudgetAreTheJudges) {
  const ProgramResult result =
      RunProgram({"verify", "--backend", "host", "--cases", "8", "--policy", "poisoned", "--budget", "online"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(ValueOf(result.last_line(), "policy"), "poisoned");
  EXPECT_EQ(ValueOf(result.last_line(), "budget"), "online");
}

TEST_F(VerifyTest, JsonHoldsTheSameCounts) {
  const ProgramResult result =
      RunProgram({"verify", "--backend", "host", "--cases", "8", "--json", Path("report.json")});
  EXPECT_EQ(result.status, 0);
  std::ifstream file(Path("report.json"));
  const nlohmann::json document = nlohmann::json::parse(file);
  EXPECT_EQ(document["schema"], "kvexact-report/2");
  EXPECT_EQ(document["run"]["seed"], 1);
  EXPECT_EQ(std::to_string(document["total"]["elements"].get<std::int64_t>()), ValueOf(result.last_line(), "elements"));
}

TEST_F(VerifyTest, JsonThatCannotBeWrittenIsBadUsage) {
  const ProgramResult result = RunProgram({"verify", "--backend", "host", "--cases", "1", "--json", "/nowhere/x.json"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err_lines().size(), 1U);
}

TEST_F(VerifyTest, SeveralSpecs) {
  const ProgramResult result =
      RunProgram({"verify", "--backend", "reference", "--spec", "op=finalize", "--spec", "op=gather_split ratio=2"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(ValueOf(result.last_line(), "cases"), "2");
}

TEST_F(VerifyTest, SelftestIsRightAndFindsItsCases) {
  const ProgramResult result = RunProgram({"selftest", "--cases", "16", "--quiet"});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "right");
  const std::vector<std::string> lines = result.out_lines();
  EXPECT_EQ(lines.at(0), "reference  16 cases from seed 1: right");
  EXPECT_EQ(lines.at(1), "host       16 cases from seed 1: right");
  EXPECT_TRUE(lines.at(2).starts_with("recorded   ")) << lines.at(2);
  EXPECT_TRUE(lines.at(2).ends_with(": right")) << lines.at(2);
}

TEST_F(VerifyTest, SelftestLooksWhereTheEnvironmentSays) {
  const ProgramResult result =
      RunProgram({"selftest", "--cases", "1", "--quiet"}, {"KVEXACT_GOLDEN=" + directory_.string()});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err, "kvexact: " + directory_.string() + ": --golden: holds no case file\n");
}

}  // namespace
}  // namespace kvexact
