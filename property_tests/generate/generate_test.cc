// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "harness/case/case_file.h"
#include "harness/case/token_fate.h"
#include "harness/generate/draw.h"
#include "property_tests/case/read_live_entries.h"
#include "property_tests/generate/any_spec.h"

namespace kvexact {
namespace {

using generate::Unread;
using spec::Operation;

constexpr std::uint64_t kSpecs = 3000;

TEST(GeneratedCase, IsUsableWhateverTheSpec) {
  for (std::uint64_t seed = 0; seed < kSpecs; ++seed) {
    const CaseSpec spec = test::AnySpec(seed);
    ASSERT_NO_THROW(Check(spec)) << ToText(spec);
    const Case c = Generate(spec);
    ASSERT_NO_THROW(Check(c)) << ToText(spec);
    ASSERT_EQ(c.op, spec.config.op);
    ASSERT_EQ(c.name, ToText(spec));
    ASSERT_EQ(c.params.num_actual, TokensOf(spec)) << ToText(spec);
  }
}

TEST(GeneratedCase, IsTheSameEachTime) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const CaseSpec spec = test::AnySpec(seed);
    EXPECT_EQ(Generate(spec), Generate(spec)) << ToText(spec);
  }
}

TEST(GeneratedCase, KeepsWhatIsReadWhateverElseIsFilledWith) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CaseSpec spec = test::AnySpec(seed);
    spec.garbage = generate::Garbage::kNone;
    spec.skip_kv_slots = 0;  // two_stage reads windows of KV-skipped tokens, which are filled as unread
    spec.unread = Unread::kNan;
    const std::uint64_t hash = test::ReadLiveEntries(Generate(spec));
    for (const Unread unread : {Unread::kInf, Unread::kValues}) {
      spec.unread = unread;
      EXPECT_EQ(test::ReadLiveEntries(Generate(spec)), hash) << ToText(spec);
    }
    spec.garbage = generate::Garbage::kAll;
    EXPECT_EQ(test::ReadLiveEntries(Generate(spec)), hash) << ToText(spec);
  }
}

TEST(GeneratedCase, DiffersWithTheSeed) {
  for (const spec::OperationRow& row : spec::kOperations) {
    CaseSpec spec = DefaultSpec(row.id);
    const Case first = Generate(spec);
    spec.seed = 2;
    EXPECT_NE(test::ReadLiveEntries(first), test::ReadLiveEntries(Generate(spec))) << row.name;
  }
}

TEST(GeneratedCase, SurvivesItsFile) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Case c = Generate(test::AnySpec(seed));
    c.name = "stem";
    EXPECT_EQ(ParseCase(SerializeCase(c), "stem"), c);
    EXPECT_EQ(ParseSpec(c.notes.at("spec")), test::AnySpec(seed));
  }
}

TEST(GeneratedCase, OfAnUnusableSpecIsRefused) {
  CaseSpec spec = DefaultSpec(Operation::kSparseAttn);
  spec.config.page_multiple = 0;
  EXPECT_THROW(Generate(spec), InputError);
}

// What the windows of live tokens hold.
struct Windows {
  bool nan = false;
  bool infinite_kv = false;
  bool positive_infinite_score = false;
  bool column_of_minus_infinity = false;
};

Windows WindowsOf(const Case& c) {
  const CompressBinding binding(c);
  const CompressInputs& in = binding.inputs();
  const std::vector<TokenFate> fates = TokenFates(c);
  Windows found;
  for (std::int64_t token = 0; token < in.num_actual; ++token) {
    if (fates[static_cast<std::size_t>(token)] != TokenFate::kLive) continue;
    for (std::int64_t column = 0; column < in.head_dim; ++column) {
      bool finite_score = false;
      for (std::int64_t row = 0; row < in.window_rows(); ++row) {
        const std::int64_t position = in.positions[token] - in.window_rows() + 1 + row;
        if (position < 0) continue;
        const std::int64_t block = in.block_table(in.token_to_req[token], position / in.block_size);
        const float* values = in.state_cache.data() + block * in.state_cache.outerStride() +
                              position % in.block_size * in.state_row_stride + (row < in.ratio ? 0 : in.head_dim);
        const float kv = values[column];
        const float score = values[in.state_width + column];
        found.nan |= std::isnan(kv) || std::isnan(score);
        found.infinite_kv |= std::isinf(kv);
        found.positive_infinite_score |= std::isinf(score) && score > 0;
        finite_score |= std::isfinite(score);
      }
      found.column_of_minus_infinity |= !finite_score;
    }
  }
  return found;
}

TEST(GeneratedCase, HoldsNothingNonFiniteUnlessItSaysSo) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CaseSpec spec = test::AnySpec(seed);
    if (!spec::row(spec.config.op).reads_state) continue;
    spec.special = generate::Special::kNone;
    EXPECT_FALSE(NonFinite(spec));
    const Windows windows = WindowsOf(Generate(spec));
    EXPECT_FALSE(windows.nan) << ToText(spec);
    EXPECT_FALSE(windows.infinite_kv) << ToText(spec);
    EXPECT_FALSE(windows.positive_infinite_score) << ToText(spec);
    EXPECT_FALSE(windows.column_of_minus_infinity) << ToText(spec);
  }
}

TEST(GeneratedCase, HoldsTheSpecialThatItIsAskedFor) {
  using generate::Special;
  for (const Operation op : {Operation::kSparseAttn, Operation::kIndexerMxfp4, Operation::kTwoStage}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CaseSpec spec = DefaultSpec(op);
      spec.seed = seed;
      const auto with = [&](Special special) {
        spec.special = special;
        EXPECT_TRUE(NonFinite(spec));
        return WindowsOf(Generate(spec));
      };
      EXPECT_TRUE(with(Special::kNan).nan);
      EXPECT_TRUE(with(Special::kScoreNan).nan);
      EXPECT_TRUE(with(Special::kInf).infinite_kv);
      EXPECT_TRUE(with(Special::kNegInf).infinite_kv);
      EXPECT_TRUE(with(Special::kScoreInf).positive_infinite_score);
      EXPECT_TRUE(with(Special::kScoreColumn).column_of_minus_infinity);
      EXPECT_TRUE(with(Special::kScoreAll).column_of_minus_infinity);
    }
  }
}

}  // namespace
}  // namespace kvexact
