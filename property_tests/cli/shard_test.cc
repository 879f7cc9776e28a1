// SPDX-License-Identifier: Apache-2.0
// Parts of a run: named by the environment, run on several devices, merged.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "property_tests/cli/directory.h"
#include "property_tests/cli/program.h"

namespace kvexact {
namespace {

using Words = std::vector<std::string>;

class ShardTest : public DirectoryTest {
 protected:
  nlohmann::json Json(const std::string& name) const {
    std::ifstream file(Path(name));
    return nlohmann::json::parse(file);
  }
  // The shard that `--shard auto` runs under these variables, or what it complains of.
  std::string Auto(const Words& environment) const {
    const ProgramResult result = RunProgram(
        {"verify", "--backend", "reference", "--cases", "1", "--shard", "auto", "--json", Path("auto.json"), "--quiet"},
        environment);
    return result.status == 2 ? result.err : Json("auto.json")["run"]["shard"].get<std::string>();
  }
};

TEST_F(ShardTest, AutoTakesThePartThatTheEnvironmentNames) {
  EXPECT_EQ(Auto({"KVEXACT_SHARD=2/5"}), "2/5");
  EXPECT_EQ(Auto({"KVEXACT_SHARD_INDEX=3", "KVEXACT_SHARD_COUNT=4"}), "3/4");
  EXPECT_EQ(Auto({"GTEST_SHARD_INDEX=0", "GTEST_TOTAL_SHARDS=3"}), "0/3");
  EXPECT_EQ(
      Auto({"SLURM_ARRAY_TASK_ID=7", "SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_TASK_MAX=15", "SLURM_ARRAY_TASK_COUNT=8"}),
      "3/8");
  EXPECT_EQ(
      Auto({"SLURM_ARRAY_TASK_ID=4", "SLURM_ARRAY_TASK_MIN=4", "SLURM_ARRAY_TASK_MAX=4", "SLURM_ARRAY_TASK_COUNT=1"}),
      "0/1");
  EXPECT_EQ(Auto({"KVEXACT_SHARD=1/2", "GTEST_SHARD_INDEX=0", "GTEST_TOTAL_SHARDS=3"}), "1/2") << "ours come first";
}

TEST_F(ShardTest, AutoComplainsWhereNoPartIsNamed) {
  EXPECT_NE(Auto({}).find("--shard: auto: needs KVEXACT_SHARD"), std::string::npos);
  EXPECT_NE(Auto({"KVEXACT_SHARD=2"}).find("KVEXACT_SHARD is no part I/N: 2"), std::string::npos);
  EXPECT_NE(Auto({"KVEXACT_SHARD_INDEX=3"}).find("KVEXACT_SHARD_COUNT is not set"), std::string::npos);
  EXPECT_NE(Auto({"GTEST_SHARD_INDEX=3", "GTEST_TOTAL_SHARDS=3"}).find("0 <= I < N"), std::string::npos);
  EXPECT_NE(
      Auto({"SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_MIN=1", "SLURM_ARRAY_TASK_MAX=8", "SLURM_ARRAY_TASK_COUNT=3"})
          .find("not numbered in equal steps"),
      std::string::npos);
}

TEST_F(ShardTest, MergedShardsAreOneRun) {
  const Words run = {"verify", "--backend", "fault:rope-sign", "--cases", "20", "--shrink-time", "0", "--quiet"};
  const std::string whole = RunProgram(run).last_line();
  Words merge = {"report", "merge"};
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    Words part = run;
    merge.push_back(Path(std::string("r") + shard[0] + ".json"));
    part.insert(part.end(), {"--shard", shard, "--json", merge.back()});
    RunProgram(part);
  }
  const ProgramResult merged = RunProgram(merge);
  EXPECT_EQ(merged.last_line(), whole);
  EXPECT_EQ(merged.status, 1);

  merge.pop_back();
  const ProgramResult some = RunProgram(merge);
  EXPECT_NE(some.out.find("\nmissing: shard 2/3\n"), std::string::npos) << some.out;
  merge.push_back(merge.back());
  const ProgramResult twice = RunProgram(merge);
  EXPECT_EQ(twice.status, 2);
  EXPECT_NE(twice.err.find("shard: 1/3 is in "), std::string::npos) << twice.err;
}

TEST_F(ShardTest, FilesThatAreNoReportsAreBadInput) {
  for (const std::string& file : {Write("empty.json", ""), Write("other.json", "{\"schema\": 3}"), Path("none.json")}) {
    const ProgramResult result = RunProgram({"report", "merge", file});
    EXPECT_EQ(result.status, 2);
    EXPECT_TRUE(result.err.starts_with("kvexact: " + file)) << result.err;
    EXPECT_EQ(result.err_lines().size(), 1U);
  }
}

TEST_F(ShardTest, DevicesAreOneProcessEachAndOneReport) {
  const Words run = {"verify", "--backend", "host", "--cases", "20", "--seed", "4", "--quiet"};
  const std::string whole = RunProgram(run).last_line();
  Words on_devices = run;
  on_devices.insert(on_devices.end(), {"--devices", "0,2,5"});
  const ProgramResult result = RunProgram(on_devices);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.last_line(), whole);

  on_devices.insert(on_devices.end(), {"--shard", "1/2", "--json", Path("part.json")});
  Words part = run;
  part.insert(part.end(), {"--shard", "1/2"});
  EXPECT_EQ(RunProgram(on_devices).last_line(), RunProgram(part).last_line());
  EXPECT_EQ(Json("part.json")["run"]["shard"], "1/2");
}

TEST_F(ShardTest, EachProcessSeesItsDevice) {
  const ProgramResult result =
      RunProgram({"verify", "--backend", "lib:" + std::string(KVEXACT_TEST_LIBRARIES) + "/names_device.so", "--cases",
                  "4", "--devices", "3,GPU-8f3e", "--shrink-time", "0", "--quiet", "--json", Path("devices.json")},
                 {"CUDA_VISIBLE_DEVICES=7"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(Json("devices.json")["subject"]["device"], "3 | GPU-8f3e");
  EXPECT_EQ(ValueOf(result.last_line(), "cases"), "4");
}

TEST_F(ShardTest, ProcessesOfDevicesEndWithTheOneThatStartedThem) {
  // Runs of an hour, each in a session of its own; a second after the first process is told to end there is none.
  const ProgramResult result = RunShell(
      "kvexact verify --backend host --time 1h --devices 0,1 --quiet >/dev/null 2>&1 & parent=$!; sleep 0.5; "
      "children=$(cat /proc/$parent/task/*/children); kill -TERM $parent; wait $parent; echo status $?; "
      "for child in $children; do echo child; kill -0 $child 2>/dev/null && echo left; done");
  EXPECT_EQ(result.out, "status 143\nchild\nchild\n");
}

TEST_F(ShardTest, DevicesThatCannotBeUsed) {
  for (const auto& [devices, says] :
       std::vector<std::pair<std::string, std::string>>{{"0,,1", "devices with commas"}, {"1,1", "names 1 twice"}}) {
    const ProgramResult result = RunProgram({"verify", "--backend", "host", "--cases", "2", "--devices", devices});
    EXPECT_EQ(result.status, 2) << devices;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  }
  const ProgramResult result = RunProgram({"verify", "--backend", "nope", "--cases", "2", "--devices", "0,1"});
  EXPECT_EQ(result.status, 2);
  EXPECT_NE(result.err.find("--devices: 0: wrote no report"), std::string::npos) << result.err;
}

TEST_F(ShardTest, ExplanationAsAPage) {
  const ProgramResult result = RunProgram({"explain", "op=sparse_attn requests=0+8", "--token", "7", "--backend",
                                           "fault:rope-sign", "--html", Path("explain.html")});
  EXPECT_EQ(result.status, 0) << result.err;
  std::ifstream file(Path("explain.html"));
  const std::string html((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const char* text : {"<h1>sparse_attn, token 7", "RMSNorm", "scales", "state block", "</html>"}) {
    EXPECT_NE(html.find(text), std::string::npos) << text;
  }
}

TEST_F(ShardTest, DiagnosisAsAReport) {
  const ProgramResult result =
      RunProgram({"diagnose", "op=sparse_attn requests=0+8", "--backend", "fault:rope-sign", "--json", Path("d.json")});
  EXPECT_EQ(result.status, 1) << result.err;
  const nlohmann::json failure = Json("d.json")["failures"][0];
  EXPECT_EQ(failure["first_wrong_stage"], "rope");
  EXPECT_TRUE(failure["suspects"][0].get<std::string>().starts_with("rope-sign: "));
  EXPECT_EQ(Json("d.json")["run"]["command"], "diagnose");
}

}  // namespace
}  // namespace kvexact
