// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/workload_row.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/case/input_error.h"

namespace kvexact::bench {
namespace {

const WorkloadRow& Named(const std::string& name) {
  for (const WorkloadRow& row : Workloads()) {
    if (row.Name() == name) return row;
  }
  throw std::runtime_error("no workload " + name);
}

// Bytes and compressed tokens that another program counted for the same workloads, from the tensors themselves.
TEST(Workloads, BytesAreThoseOfThePeers) {
  const struct {
    const char* name;
    std::int64_t compressed;
    std::int64_t bytes;
  } rows[] = {
      {"sparse_c4/decode/1", 1, 33372},
      {"sparse_c4/prefill/65536", 16384, 547749888},
      {"sparse_c128/decode/512", 512, 268744704},
      {"sparse_c128/prefill/2048", 16, 8438912},
      {"indexer_fp8_c4/prefill/8192", 2048, 17211392},
      {"indexer_mxfp4_c4/decode/64", 64, 529920},
      {"indexer_q_fp8/heads64/1", 1, 25224},
      {"indexer_q_mxfp4/heads64/8192", 8192, 175177728},
  };
  for (const auto& expected : rows) {
    const WorkloadRow& row = Named(expected.name);
    EXPECT_EQ(row.Compressed(), expected.compressed) << expected.name;
    EXPECT_EQ(row.Bytes(), expected.bytes) << expected.name;
  }
}

TEST(Workloads, NamesAreUnique) {
  std::set<std::string> names;
  for (const WorkloadRow& row : Workloads()) names.insert(row.Name());
  EXPECT_EQ(names.size(), Workloads().size());
  EXPECT_EQ(names.size(), 32U);
}

TEST(Workloads, PrefillHasRequestsOf8192) {
  EXPECT_EQ(Named("sparse_c4/prefill/65536").Requests(), 8);
  EXPECT_EQ(Named("sparse_c4/prefill/2048").Requests(), 1);
  EXPECT_EQ(Named("sparse_c4/decode/64").Requests(), 64);
}

TEST(Filter, SelectsByExpression) {
  EXPECT_EQ(WorkloadsMatching("").size(), Workloads().size());
  const std::vector<WorkloadRow> rows = WorkloadsMatching("^sparse_c128/decode/(1|64)$");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].Name(), "sparse_c128/decode/1");
  EXPECT_EQ(rows[1].Name(), "sparse_c128/decode/64");
}

TEST(Filter, ThatCannotBeUsedIsNamed) {
  try {
    WorkloadsMatching("nothing like this");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "--filter: nothing like this: matches no workload; kvexact bench --list prints them");
  }
  try {
    WorkloadsMatching("(");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "--filter: (: is no regular expression");
  }
}

}  // namespace
}  // namespace kvexact::bench
