// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/peers.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "harness/case/input_error.h"

namespace kvexact::bench {
namespace {

class PeersFile : public testing::Test {
 protected:
  PeersFile() : path_(testing::TempDir() + "peers-" + std::to_string(::getpid()) + ".jsonl") {}
  ~PeersFile() override { std::remove(path_.c_str()); }
  PeersFile(const PeersFile&) = delete;
  PeersFile& operator=(const PeersFile&) = delete;

  Peers Read(const std::string& text) {
    std::ofstream(path_) << text;
    return ReadPeers(path_);
  }
  std::string Refusal(const std::string& text) {
    try {
      Read(text);
    } catch (const InputError& e) {
      return std::string(e.what()).substr(path_.size());
    }
    return "accepted";
  }

 private:
  std::string path_;
};

constexpr const char* kRows =
    R"({"kernel": "empty", "mode": "launch", "tokens": 0, "bytes": 0, "us": 2.5}
{"kernel": "copy", "mode": "1GiB", "tokens": 0, "bytes": 2147483648, "us": 502.5}
{"kernel": "sparse_c128", "mode": "decode", "tokens": 1, "compressed": 1, "bytes": 524892, "us": 245.8}
{"kernel": "sparse_c128_two_stage", "mode": "decode", "tokens": 1, "compressed": 1, "bytes": 524892, "us": 11.5}
)";

TEST_F(PeersFile, FasterOfTwoPathsAndLimits) {
  const Peers peers = Read(kRows);
  ASSERT_TRUE(peers.limits.has_value());
  EXPECT_DOUBLE_EQ(peers.limits->empty_us, 2.5);
  EXPECT_DOUBLE_EQ(peers.limits->bandwidth, 2147483648 / 500e-6);
  const WorkloadRow one = WorkloadsMatching("sparse_c128/decode/1$").front();
  EXPECT_EQ(peers.Best(one), 11.5);
  EXPECT_EQ(peers.Best(WorkloadsMatching("sparse_c4/decode/1$").front()), std::nullopt);
}

TEST_F(PeersFile, WithoutLimitsHasNone) {
  EXPECT_FALSE(Read(R"({"kernel": "k", "mode": "m", "tokens": 1, "bytes": 1, "us": 1})").limits.has_value());
}

TEST_F(PeersFile, DamageIsNamedByLineAndField) {
  const std::string good = R"({"kernel": "k", "mode": "m", "tokens": 1, "bytes": 1, "us": 1})";
  EXPECT_EQ(Refusal(good + "\nnot json\n"), " line 2: JSON: cannot be parsed");
  EXPECT_EQ(Refusal("[]"), " line 1: line: must be a JSON object");
  EXPECT_EQ(Refusal(R"({"kernel": 3})"), " line 1: kernel: is missing or of a wrong type");
  EXPECT_EQ(Refusal(R"({"kernel": "k", "mode": "m", "tokens": 1.5, "bytes": 1, "us": 1})"),
            " line 1: tokens: is missing or of a wrong type");
  EXPECT_EQ(Refusal(R"({"kernel": "k", "mode": "m", "tokens": 1, "bytes": 1, "us": 0})"),
            " line 1: us: must be above zero");
  EXPECT_EQ(Refusal(""), ": file: has no rows");
}

TEST(Peers, MissingFileIsNamed) { EXPECT_THROW(ReadPeers("/nonexistent/peers.jsonl"), InputError); }

TEST(Limits, BestIsTheLargerBandwidthAndTheSmallerLaunch) {
  const Limits best = Limits::Best({2.5, 4.0e12}, {2.7, 4.2e12});
  EXPECT_DOUBLE_EQ(best.empty_us, 2.5);
  EXPECT_DOUBLE_EQ(best.bandwidth, 4.2e12);
  EXPECT_DOUBLE_EQ(best.MicrosecondsFor(42'000'000), 12.5);
}

}  // namespace
}  // namespace kvexact::bench
