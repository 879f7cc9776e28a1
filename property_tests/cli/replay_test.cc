// SPDX-License-Identifier: Apache-2.0
// gen, replay and explain on files, good and hostile.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#include "property_tests/cli/directory.h"
#include "property_tests/cli/program.h"

namespace kvexact {
namespace {

namespace fs = std::filesystem;

class ReplayTest : public DirectoryTest {
 protected:
  std::string Cases(const std::string& name) const { return Path(name); }

  ProgramResult Gen(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"gen", "--out", Path(out), "--cases", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunProgram(arguments);
  }

  static std::string BytesOf(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }

  static std::vector<fs::path> FilesIn(const fs::path& directory) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(directory)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  // A good recorded case, for damage.
  std::string Recorded() {
    EXPECT_EQ(Gen("good", {"--op", "finalize", "--record", "reference", "--seed", "4"}).status, 0);
    return FilesIn(Path("good")).at(1).string();
  }
};

TEST_F(ReplayTest, GeneratedFilesAreTheSameEveryTimeAndReplayRight) {
  const ProgramResult first = Gen("a", {"--op", "indexer_mxfp4", "--record", "reference", "--seed", "9"});
  EXPECT_EQ(first.status, 0);
  EXPECT_EQ(first.err, "");
  EXPECT_EQ(Gen("b", {"--op", "indexer_mxfp4", "--record", "reference", "--seed", "9"}).status, 0);
  const std::vector<fs::path> a = FilesIn(Path("a"));
  const std::vector<fs::path> b = FilesIn(Path("b"));
  ASSERT_EQ(a.size(), 3U);
  ASSERT_EQ(b.size(), 3U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].filename(), b[i].filename());
    EXPECT_EQ(BytesOf(a[i]), BytesOf(b[i]));
  }
  EXPECT_EQ(a[0].filename(), "indexer_mxfp4_9_000000.safetensors");
  const ProgramResult replayed = RunProgram({"replay", Path("a"), "--recorded"});
  EXPECT_EQ(replayed.status, 0);
  EXPECT_EQ(ValueOf(replayed.last_line(), "exact"), ValueOf(replayed.last_line(), "elements"));
  EXPECT_EQ(ValueOf(replayed.last_line(), "cases"), "3");
  EXPECT_EQ(RunProgram({"replay", Path("a"), "--backend", "host"}).status, 0);
}

TEST_F(ReplayTest, RecordedCasesOfTheProjectAreRight) {
  const ProgramResult result = RunProgram({"replay", KVEXACT_RECORDED_CASES, "--recorded", "--quiet"});
  EXPECT_EQ(result.status, 0) << result.out;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "right");
  EXPECT_EQ(ValueOf(result.last_line(), "wrong"), "0");
  EXPECT_EQ(ValueOf(result.last_line(), "touched"), "0");
}

TEST_F(ReplayTest, FilesWithoutOutputsAreNamed) {
  ASSERT_EQ(Gen("bare", {"--op", "finalize"}).status, 0);
  const ProgramResult result = RunProgram({"replay", Path("bare"), "--recorded", "--quiet"});
  EXPECT_EQ(result.status, 2);
  const std::vector<std::string> lines = result.err_lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "kvexact: " + Path("bare") +
                          "/finalize_1_000000.safetensors: kv_cache_after: is missing: nothing was recorded");
  EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "error");
}

TEST_F(ReplayTest, FlippedBitIsWrongAndTheCommandRepeatsIt) {
  const std::string file = Recorded();
  // The recorded outputs are among the tensors; flip bits until one is an element's.
  std::string bytes = BytesOf(file);
  ProgramResult result;
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::size_t at = bytes.find("\"kv_cache_after\"");
  ASSERT_NE(at, std::string::npos);
  const std::size_t offsets = bytes.find("\"data_offsets\":[", at) + std::strlen("\"data_offsets\":[");
  const std::size_t begin = 8 + header + std::stoull(bytes.substr(offsets));
  const std::size_t end = 8 + header + std::stoull(bytes.substr(bytes.find(',', offsets) + 1));
  for (std::size_t i = begin; i < end; i += 97) bytes[i] = static_cast<char>(bytes[i] ^ 0x80);
  Write("it's damaged.safetensors", bytes);
  result = RunProgram({"replay", Path("it's damaged.safetensors"), "--recorded", "--quiet"});
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "wrong");
  const std::string mark = "  repeat: ";
  const std::size_t repeat = result.out.find(mark);
  ASSERT_NE(repeat, std::string::npos);
  const std::size_t first = repeat + mark.size();
  const ProgramResult again = RunShell(result.out.substr(first, result.out.find('\n', first) - first));
  EXPECT_EQ(again.status, 1);
  EXPECT_EQ(again.last_line(), result.last_line());
}

TEST_F(ReplayTest, DirectoryWithoutACaseIsNothingJudged) {
  Write("notes.txt", "no case");
  const ProgramResult result = RunProgram({"replay", directory_.string(), "--recorded"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "none");
  EXPECT_EQ(result.err, "kvexact: " + directory_.string() + ": directory: holds no *.safetensors\n");
}

TEST_F(ReplayTest, HostileFilesGiveOneLineThatNamesTheFile) {
  const std::string good = BytesOf(Recorded());
  const auto with_length = [](std::uint64_t length, const std::string& rest) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes + rest;
  };
  std::vector<std::string> paths = {
      Write("empty.safetensors", ""),
      Write("short.safetensors", "abc"),
      Write("text.safetensors", "this is no case file at all"),
      Write("length.safetensors", with_length(~std::uint64_t{0}, "{}")),
      Write("header.safetensors", with_length(2, "{]")),
      Write("nothing.safetensors", with_length(2, "{}")),
      Write("deep.safetensors", with_length(100000, std::string(100000, '['))),
      Write("truncated.safetensors", good.substr(0, good.size() / 2)),
      Write("longer.safetensors", good + "x"),
      "/dev/null",
  };
  std::string renamed = good;
  const std::size_t schema = renamed.find("kvexact-case/1");
  ASSERT_NE(schema, std::string::npos);
  renamed[schema] = '\x1b';
  paths.push_back(Write("schema.safetensors", renamed));
  for (const std::string& path : paths) {
    const ProgramResult result = RunProgram({"replay", path, "--recorded"});
    EXPECT_EQ(result.status, 2) << path;
    ASSERT_EQ(result.err_lines().size(), 1U) << path << "\n" << result.err;
    EXPECT_TRUE(result.err.starts_with("kvexact: " + path + ": ")) << result.err;
    EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
    EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "error");
    EXPECT_EQ(RunProgram({"explain", path, "--token", "0"}).status, 2) << path;
  }
}

TEST_F(ReplayTest, DamagedFileAmongOthersDoesNotStopThem) {
  const std::string good = Recorded();
  const std::string broken = Write("broken.safetensors", "no");
  const ProgramResult result = RunProgram({"replay", broken, good, "--recorded", "--quiet"});
  EXPECT_EQ(result.status, 2);
  EXPECT_EQ(result.err_lines().size(), 1U);
  EXPECT_EQ(ValueOf(result.last_line(), "verdict"), "error");
  EXPECT_EQ(ValueOf(result.last_line(), "cases"), "1");
  EXPECT_EQ(ValueOf(result.last_line(), "wrong"), "0");
}

TEST_F(ReplayTest, ExplainShowsWhatWasRecorded) {
  const ProgramResult result =
      RunProgram({"explain", std::string(KVEXACT_RECORDED_CASES) + "/sparse_attn_ratio1.safetensors", "--token", "1",
                  "--recorded", "--columns", "446..449"});
  EXPECT_EQ(result.status, 0) << result.err;
  for (const char* line : {"rows that request", "column 446: softmax over the rows", "RMSNorm", "rotation, row",
                           "scales\n", "codes\n", "bf16 values\n"}) {
    EXPECT_NE(result.out.find(line), std::string::npos) << line << " not in\n" << result.out;
  }
}

TEST_F(ReplayTest, ExplainOfASpecWithABackend) {
  const ProgramResult result =
      RunProgram({"explain", "op=indexer_q_mxfp4 heads=2", "--token", "1", "--head", "1", "--backend", "host"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.out.find("folded weight"), std::string::npos);
  EXPECT_EQ(result.out.find("wrong"), std::string::npos);
}

}  // namespace
}  // namespace kvexact
