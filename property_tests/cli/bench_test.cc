// SPDX-License-Identifier: Apache-2.0
// kvexact bench where nothing can be timed: what it lists, what it refuses, and how it says that there is no device.
#include <gtest/gtest.h>

#include "property_tests/cli/program.h"

namespace kvexact {
namespace {

TEST(Bench, ListsWorkloadsWithoutADevice) {
  const ProgramResult result = RunProgram({"bench", "--list", "--filter", "c128/decode"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "sparse_c128/decode/1\nsparse_c128/decode/64\nsparse_c128/decode/512\n");
}

TEST(Bench, RefusesWhatCannotBeTimed) {
  const std::pair<std::vector<std::string>, const char*> refusals[] = {
      {{"--backend", "host"}, "kvexact: --backend: host: bench times libraries whose tensors lie in CUDA memory"},
      {{"--against", "exec:true"}, "kvexact: --against: exec:true: bench times libraries"},
      {{"--filter", "nothing"}, "kvexact: --filter: nothing: matches no workload"},
      {{"--peers", "/nonexistent"}, "kvexact: /nonexistent: file: cannot be read"},
      {{"--baseline", "/nonexistent"}, "kvexact: /nonexistent: file: cannot be read"},
      {{"--rounds", "1"}, "kvexact: --rounds"},
  };
  for (const auto& [arguments, message] : refusals) {
    std::vector<std::string> all{"bench"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramResult result = RunProgram(all);
    EXPECT_EQ(result.status, 2) << message;
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err.substr(0, std::string(message).size()), message);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

// Whatever this machine and build have, the answer is one of these.
TEST(Bench, TimesOrSaysWhyNot) {
  const ProgramResult result =
      RunProgram({"bench", "--filter", "indexer_q_fp8/heads64/1$", "--rounds", "5", "--quiet"});
  switch (result.status) {
    case 0:
      EXPECT_NE(result.out.find("indexer_q_fp8/heads64/1"), std::string::npos);
      break;
    case 2:
      EXPECT_TRUE(result.err.find("this build has no CUDA kernels") != std::string::npos ||
                  result.err.find("built without nvcc or without Google Benchmark") != std::string::npos)
          << result.err;
      break;
    case 3:
      EXPECT_EQ(result.err.find("kvexact: bench: no CUDA device"), 0U) << result.err;
      break;
    default:
      FAIL() << result.status << result.err;
  }
}

}  // namespace
}  // namespace kvexact
