// SPDX-License-Identifier: Apache-2.0
// Names, help, and arguments that cannot be used.
#include <gtest/gtest.h>

#include "property_tests/cli/program.h"

namespace kvexact {
namespace {

std::vector<std::string> FirstWords(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) words.push_back(line.substr(0, line.find(' ')));
  return words;
}

TEST(List, OperationsByName) {
  const ProgramResult result = RunProgram({"list", "ops"});
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(FirstWords(result.out),
            (std::vector<std::string>{"sparse_attn", "indexer_fp8", "indexer_mxfp4", "two_stage", "gather_split",
                                      "finalize", "indexer_q_fp8", "indexer_q_mxfp4"}));
}

TEST(List, EverySectionHasItsNames) {
  const std::vector<std::pair<std::string, std::string>> sections = {{"formats", "e4m3fnuz"},
                                                                     {"layouts", "indexer_mxfp4"},
                                                                     {"policies", "poisoned"},
                                                                     {"budgets", "scaled-exp2"},
                                                                     {"backends", "reference"}};
  const std::string all = RunProgram({"list"}).out;
  for (const auto& [section, name] : sections) {
    const ProgramResult result = RunProgram({"list", section});
    EXPECT_EQ(result.status, 0);
    const std::vector<std::string> names = FirstWords(result.out);
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << section;
    EXPECT_NE(all.find("\n" + section + ":\n" + result.out), std::string::npos) << section;
  }
}

TEST(Help, OfTheProgramNamesEveryCommandAndStatus) {
  const ProgramResult result = RunProgram({"--help"});
  EXPECT_EQ(result.status, 0);
  for (const char* word : {"list", "gen", "verify", "replay", "selftest", "explain", "Exit status: 0 right"}) {
    EXPECT_NE(result.out.find(word), std::string::npos) << word;
  }
}

TEST(Help, OfEveryCommand) {
  for (const char* command : {"list", "gen", "verify", "replay", "selftest", "explain"}) {
    const ProgramResult result = RunProgram({command, "--help"});
    EXPECT_EQ(result.status, 0) << command;
    EXPECT_NE(result.out.find("Usage: kvexact " + std::string(command)), std::string::npos) << result.out;
    EXPECT_EQ(result.err, "");
  }
}

TEST(Version, NamesVersionAndCompiler) {
  const ProgramResult result = RunProgram({"--version"});
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.out.starts_with("kvexact 0."));
}

using Arguments = std::vector<std::string>;

TEST(Usage, BadArgumentsGiveOneLineAndStatus2) {
  struct Row {
    Arguments arguments;
    const char* says;
  };
  const std::vector<Row> rows = {
      {{}, "a command is needed"},
      {{"frobnicate"}, "frobnicate"},
      {{"verify"}, "--backend is required"},
      {{"verify", "--backend"}, "--backend"},
      {{"verify", "--backend", "nope"}, "nope: backend: unknown"},
      {{"verify", "--backend", "lib:/nowhere/lib.so"}, "lib:/nowhere/lib.so: path: "},
      {{"verify", "--backend", "host", "--op", "frobnicate"},
       "--op: frobnicate: is no operation; there are sparse_attn"},
      {{"verify", "--backend", "host", "--cases", "0"}, "--cases"},
      {{"verify", "--backend", "host", "--cases", "-5"}, "--cases"},
      {{"verify", "--backend", "host", "--cases", "many"}, "--cases"},
      {{"verify", "--backend", "host", "--cases", "99999999999999999999999"}, "--cases"},
      {{"verify", "--backend", "host", "--seed", "x"}, "--seed: x: "},
      {{"verify", "--backend", "host", "--seed", "-1"}, "--seed: -1: "},
      {{"verify", "--backend", "host", "--seed", "18446744073709551616"}, "--seed: "},
      {{"verify", "--backend", "host", "--time", "0"}, "--time: 0: "},
      {{"verify", "--backend", "host", "--time", "h"}, "--time: h: "},
      {{"verify", "--backend", "host", "--time", "99999999999h"}, "--time: "},
      {{"verify", "--backend", "host", "--shard", "3/3"}, "--shard: 3/3: "},
      {{"verify", "--backend", "host", "--shard", "1"}, "--shard: 1: "},
      {{"verify", "--backend", "host", "--shard", "-1/2"}, "--shard: "},
      {{"verify", "--backend", "host", "--shard", "0/0"}, "--shard: "},
      {{"verify", "--backend", "host", "--max-configs", "0"}, "--max-configs"},
      {{"verify", "--backend", "host", "--policy", "lax"}, "--policy: lax: is no policy; there are seed, poisoned"},
      {{"verify", "--backend", "host", "--budget", "huge"}, "--budget: huge: is no budget; there are default"},
      {{"verify", "--backend", "host", "--threads", "0"}, "--threads"},
      {{"faults", "rope-sign", "--threads", "5000"}, "--threads"},
      {{"faults", "rope-sign", "--seconds", "0"}, "--seconds"},
      {{"faults", "rope-sign", "--seconds", "-1"}, "--seconds"},
      {{"faults", "rope-sign", "--seconds", "nan"}, "--seconds"},
      {{"verify", "--backend", "host", "--timeout", "nan"}, "--timeout: nan must be seconds from 0.001"},
      {{"verify", "--backend", "host", "--timeout", "1e7"}, "--timeout: 1e7 must be"},
      {{"verify", "--backend", ""}, "--backend: is empty"},
      {{"verify", "--backend", "host", "--shard", ""}, "--shard: is empty"},
      {{"replay", "", "--recorded"}, "path: is empty"},
      {{"report", "show", ""}, "file: is empty"},
      {{"verify", "--backend", "host", "--spec", "op=frobnicate"}, "op"},
      {{"verify", "--backend", "host", "--spec", "garbage"}, "garbage"},
      {{"verify", "--backend", "host", "--spec", "op=sparse_attn", "--seed", "2"}, "--seed"},
      {{"replay"}, "path is required"},
      {{"replay", "/nowhere", "--recorded"}, "/nowhere: file: no such file or directory"},
      {{"replay", "/"}, "needs either --recorded or --backend B"},
      {{"replay", "/", "--recorded", "--backend", "host"}, "needs either --recorded or --backend B"},
      {{"gen"}, "--out is required"},
      {{"gen", "--out", "/proc/nowhere", "--cases", "1"}, "/proc/nowhere: --out: "},
      {{"explain", "/nowhere", "--token", "0"}, "/nowhere: file: "},
      {{"explain", "op=sparse_attn"}, "--token is required"},
      {{"explain", "op=sparse_attn", "--token", "999999"}, "token: 999999 is none of the"},
      {{"explain", "op=sparse_attn", "--token", "0", "--columns", "7..3"}, "--columns: 7..3: "},
      {{"explain", "op=sparse_attn", "--token", "0", "--columns", "0..512"}, "--columns: 0..512: "},
      {{"explain", "op=indexer_fp8", "--token", "0", "--columns", "127..128"}, "columns: 128 is none of the 128"},
      {{"explain", "op=sparse_attn", "--token", "0", "--recorded"}, "holds no recorded outputs"},
      {{"list", "frobnications"}, "faults"},
      {{"selftest", "--golden", "/nowhere"}, "/nowhere: --golden: is no directory"},
  };
  for (const Row& row : rows) {
    std::string command;
    for (const std::string& argument : row.arguments) command += " " + argument;
    const ProgramResult result = RunProgram(row.arguments);
    EXPECT_EQ(result.status, 2) << command;
    EXPECT_EQ(result.out, "") << command;
    ASSERT_EQ(result.err_lines().size(), 1U) << command << "\n" << result.err;
    EXPECT_TRUE(result.err.starts_with("kvexact: ")) << result.err;
    EXPECT_NE(result.err.find(row.says), std::string::npos) << command << "\n" << result.err;
  }
}

TEST(Usage, ControlBytesOfAnArgumentAreNotPrinted) {
  const ProgramResult result = RunProgram({"verify", "--backend", "a\x1b[31m\nb"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err_lines().size(), 1U);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
}

TEST(Usage, OutputThatCannotBeWrittenIsAFailureOfTheRun) {
  const ProgramResult result = RunShell("kvexact list >/dev/full");
  EXPECT_EQ(result.status, 4);
  EXPECT_EQ(result.err, "kvexact: standard output cannot be written\n");
}

}  // namespace
}  // namespace kvexact
