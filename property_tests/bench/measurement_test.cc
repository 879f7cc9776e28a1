// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/measurement.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace kvexact::bench {
namespace {

TEST(Median, AndSpread) {
  EXPECT_DOUBLE_EQ(Median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(Median({4, 1, 3, 2}), 3);
  EXPECT_DOUBLE_EQ(RelativeSpread({10, 10, 10, 10, 10}), 0);
  EXPECT_DOUBLE_EQ(RelativeSpread({8, 9, 10, 11, 12}), 0.2);
}

struct Example {
  BenchDescription description{"cuda", "1", "a device", {2.5, 4e12}};
  WorkloadRow row = WorkloadsMatching("indexer_q_fp8/heads64/8192").front();  // 206,635,008 bytes: 51.66 us
  std::vector<Measurement> measurements{{row, 108.32, 0.01, ""},
                                        {WorkloadsMatching("sparse_c4/decode/64").front(), 0, 0, "not this ratio"}};
};

TEST(MeasurementJson, HasThePeersFields) {
  const Example e;
  std::istringstream lines(MeasurementJson(e.description, e.measurements));
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(rows.size(), 3U);  // what is unsupported has no time
  EXPECT_EQ(rows[0]["kernel"], "empty");
  EXPECT_EQ(rows[1]["kernel"], "copy");
  EXPECT_DOUBLE_EQ(rows[1]["us"], 2.5 + 536.8709);
  EXPECT_EQ(rows[2]["kernel"], "indexer_q_fp8");
  EXPECT_EQ(rows[2]["tokens"], 8192);
  EXPECT_EQ(rows[2]["bytes"], 206635008);
  EXPECT_NEAR(rows[2]["limit_us"], 54.1588, 1e-4);
  EXPECT_NEAR(rows[2]["ratio"], 0.5, 1e-4);
}

TEST(MeasurementText, PutsThePeerBeside) {
  const Example e;
  Peers peers;
  peers.rows.push_back({"indexer_q_fp8", "heads64", 8192, 324.96});
  const std::string text = MeasurementText(e.description, e.measurements, peers);
  EXPECT_NE(text.find("cuda 1 on a device"), std::string::npos) << text;
  EXPECT_NE(text.find("324.96"), std::string::npos) << text;
  EXPECT_NE(text.find("3.00x"), std::string::npos) << text;
  EXPECT_NE(text.find("unsupported: not this ratio"), std::string::npos) << text;
}

}  // namespace
}  // namespace kvexact::bench
