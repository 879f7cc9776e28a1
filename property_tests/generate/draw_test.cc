// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "harness/case/token_fate.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

using spec::Operation;

DrawSettings AllOperations(std::uint64_t seed) {
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  settings.seed = seed;
  return settings;
}

TEST(Draw, IsAFunctionOfSettingsAndIndex) {
  const DrawSettings settings = AllOperations(5);
  std::vector<CaseSpec> forwards;
  for (std::uint64_t index = 0; index < 200; ++index) forwards.push_back(Draw(settings, index));
  for (std::uint64_t index = 200; index-- > 0;) EXPECT_EQ(Draw(settings, index), forwards[index]);
}

TEST(Draw, DependsOnTheSeed) {
  int same = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    same += Draw(AllOperations(1), index) == Draw(AllOperations(2), index) ? 1 : 0;
  }
  EXPECT_EQ(same, 0);
}

TEST(Draw, PassesCheck) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t index = 0; index < 250; ++index) {
      const CaseSpec spec = Draw(AllOperations(seed), index);
      ASSERT_NO_THROW(Check(spec)) << ToText(spec);
    }
  }
}

TEST(Draw, UsesEveryConfigurationOnceATurn) {
  for (const std::int64_t count : {1, 3, 24, 40}) {
    DrawSettings settings = AllOperations(3);
    settings.max_configs = count;
    const std::vector<Configuration> all = Configurations(settings);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(count));
    std::multiset<std::string> expected;
    for (const Configuration& config : all) expected.insert(ToText(config));
    for (std::uint64_t turn = 0; turn < 5; ++turn) {
      std::multiset<std::string> drawn;
      for (std::int64_t i = 0; i < count; ++i) {
        drawn.insert(
            ToText(Draw(settings, turn * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(i)).config));
      }
      EXPECT_EQ(drawn, expected);
    }
  }
}

TEST(Draw, KeepsToItsOperations) {
  DrawSettings settings;
  settings.operations = {Operation::kIndexerFp8, Operation::kFinalize};
  std::set<Operation> drawn;
  for (std::uint64_t index = 0; index < 100; ++index) drawn.insert(Draw(settings, index).config.op);
  EXPECT_EQ(drawn, (std::set{Operation::kIndexerFp8, Operation::kFinalize}));
}

TEST(Configurations, BeginWithProductionOnesOfEveryOperation) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<Configuration> all = Configurations(AllOperations(seed));
    for (const spec::OperationRow& row : spec::kOperations) {
      const Configuration& config = all[static_cast<std::size_t>(row.id)];
      EXPECT_EQ(config.op, row.id);
      EXPECT_TRUE(config.ratio == 4 || config.ratio == 128);
      EXPECT_EQ(config.row_pad, 0);
      EXPECT_EQ(config.page_multiple, 576);
      EXPECT_EQ(config.base, 0);
    }
  }
}

TEST(Configurations, ShowEveryPaddingAndTypeInARunOfThreeEach) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    int fnuz = 0;
    int bf16_out = 0;
    std::map<std::string, int> pads;
    for (const Configuration& c : Configurations(AllOperations(seed))) {
      fnuz += c.fnuz ? 1 : 0;
      bf16_out += c.out_type == generate::FloatType::kBf16 ? 1 : 0;
      pads["width"] += c.width_pad > 0 ? 1 : 0;
      pads["row"] += c.row_pad > 0 ? 1 : 0;
      pads["block"] += c.block_pad > 0 ? 1 : 0;
      pads["token"] += c.token_pad > 0 ? 1 : 0;
      pads["scale"] += c.scale_pad > 0 ? 1 : 0;
      pads["angle"] += c.angle_pad > 0 ? 1 : 0;
      pads["base"] += c.base > 0 ? 1 : 0;
      pads["bf16 norm"] += c.norm_type == generate::FloatType::kBf16 ? 1 : 0;
    }
    EXPECT_GE(fnuz, 1) << seed;
    EXPECT_GE(bf16_out, 1) << seed;
    for (const auto& [name, count] : pads) EXPECT_GE(count, 4) << name << ", seed " << seed;
  }
}

// What a kernel is compiled for goes through its classes, so that a default run meets each.
TEST(Configurations, ShowEveryClassOfSizeInARunOfThreeEach) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::set<std::string> seen;
    const auto odd = [](std::int64_t n) { return (n & (n - 1)) != 0; };
    for (const Configuration& c : Configurations(AllOperations(seed))) {
      const spec::OperationRow& row = spec::row(c.op);
      if (row.family == spec::Family::kIndexerQ) {
        if (c.heads > 64) seen.insert("more than 64 heads");
        if (odd(c.heads)) seen.insert("heads that are no power of two");
        if (c.rope % 8 != 0) seen.insert("narrow rotation of Q");
        if (c.rope > 64) seen.insert("wide rotation of Q");
        continue;
      }
      if (odd(c.ratio)) seen.insert("ratio that is no power of two");
      if (c.ratio == 1) seen.insert("ratio 1");
      if (c.overlap && c.ratio > 128) seen.insert("long windows with overlap");
      if (row.reads_state && odd(c.block)) seen.insert("block that is no power of two");
      if (row.reads_state && c.block == 1) seen.insert("block of one position");
      if (row.layout != nullptr && odd(c.page)) seen.insert("page that is no power of two");
      if (row.layout != nullptr && c.page == 1) seen.insert("page of one token");
      if (row.head_dim == 128 && c.rope % 8 != 0) seen.insert("narrow rotation");
      if (row.head_dim == 128 && c.rope > 64) seen.insert("wide rotation");
    }
    EXPECT_EQ(seen.size(), 13U) << "seed " << seed << ": " << testing::PrintToString(seen);
  }
}

TEST(Configurations, GiveEachOperationOfQManyHeadsAndFew) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::map<Operation, std::set<bool>> many;
    for (const Configuration& c : Configurations(AllOperations(seed))) {
      if (spec::row(c.op).family != spec::Family::kIndexerQ) continue;
      if (c.heads > 64 || c.heads < 8) many[c.op].insert(c.heads > 64);
    }
    EXPECT_EQ(many.size(), 2U) << seed;
    for (const auto& [op, seen] : many) EXPECT_EQ(seen.size(), 2U) << spec::row(op).name << ", seed " << seed;
  }
}

// A launch of thousands of tokens is the usual one.
TEST(Draw, HasLargeLaunches) {
  const DrawSettings settings = AllOperations(1);
  std::int64_t rows = 0;
  std::map<bool, std::int64_t> windows;
  for (std::uint64_t index = 0; index < 2000; ++index) {
    const CaseSpec spec = Draw(settings, index);
    const spec::OperationRow& row = spec::row(spec.config.op);
    if (row.family == spec::Family::kIndexerQ) {
      rows = std::max(rows, TokensOf(spec) * spec.config.heads);
      continue;
    }
    std::int64_t ends = 0;
    for (const RequestRun& run : spec.requests) {
      const std::int64_t ratio = spec.config.ratio;
      ends += run.count * ((run.start + run.length) / ratio - run.start / ratio);
    }
    std::int64_t& most = windows[row.head_dim == 128];
    most = std::max(most, ends);
  }
  EXPECT_GT(rows, 65535);
  EXPECT_GT(windows[true], 128);
  EXPECT_GT(windows[false], 64);
}

TEST(Draw, GrowsWithSize) {
  const auto live = [](std::int64_t size, std::uint64_t index) {
    DrawSettings settings = AllOperations(1);
    settings.size = size;
    const std::vector<TokenFate> fates = TokenFates(Generate(Draw(settings, index)));
    return std::count(fates.begin(), fates.end(), TokenFate::kLive);
  };
  int more = 0;
  int less = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const auto small = live(1, index);
    const auto large = live(8, index);
    more += large > 3 * small / 2 ? 1 : 0;
    less += large < 2 * small / 3 ? 1 : 0;
  }
  EXPECT_GT(more, 2 * less);
  EXPECT_GT(more, 40);
}

TEST(Draw, KeepsCasesSmall) {
  std::int64_t most = 0;
  std::int64_t total = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const Case c = Generate(Draw(AllOperations(1), index));
    std::int64_t bytes = 0;
    for (const TensorMap* tensors : {&c.inputs, &c.outputs_before}) {
      for (const auto& [name, tensor] : *tensors) bytes += tensor.size_bytes();
    }
    most = std::max(most, bytes);
    total += bytes;
  }
  EXPECT_LT(total / 1000, 1 << 20);
  EXPECT_LT(most, 32 << 20);
}

}  // namespace
}  // namespace kvexact
