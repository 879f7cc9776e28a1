// SPDX-License-Identifier: Apache-2.0
// NaN, infinities and overflow: the host backend under policy `seed`.
#include <gtest/gtest.h>

#include <cfloat>
#include <cstring>
#include <limits>

#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Operation kStoring[] = {Operation::kSparseAttn, Operation::kIndexerFp8, Operation::kIndexerMxfp4};

// One window of 2 rows; its token has KV slot 0.
Case WindowCase(Operation op) {
  Case c = CompressCase(op, 2, 2, false);
  FillRandom(c, 11);
  return c;
}

// What token 0 of the cache holds.
struct Stored {
  explicit Stored(const Case& c) : cache(RunHost(c).at("kv_cache")), row(c.row()) {
    const std::uint8_t* token = cache.bytes() + 16;
    codes = token;
    scales = token + 2 * c.params.token_stride;
    if (row.layout->rope_values > 0) std::memcpy(rope, token + row.layout->rope_offset, sizeof rope);
  }
  bool fp4() const { return row.layout->code_type == spec::CodeType::kE2M1Nibble; }
  int Code(int i) const { return fp4() ? codes[i / 2] >> (4 * (i % 2)) & 0xF : codes[i]; }
  int Magnitude(int i) const { return Code(i) & (fp4() ? 0x7 : 0x7F); }
  int NanCode() const { return fp4() ? 0x7 : 0x7E; }
  void ExpectFloorScales() const {
    if (row.layout->scale_type == spec::ScaleType::kFp32Word) {
      float scale = 0;
      std::memcpy(&scale, scales, sizeof scale);
      EXPECT_EQ(scale, 0x1p-22F) << row.name;
      return;
    }
    for (int b = 0; b < row.layout->scales(); ++b) EXPECT_EQ(scales[b], fp4() ? 0x01 : 0x69) << row.name;
  }

  Tensor cache;
  const spec::OperationRow& row;
  const std::uint8_t* codes;
  const std::uint8_t* scales;
  std::uint16_t rope[64] = {};
};

void ExpectAllNan(const Case& c) {
  const Stored stored(c);
  for (int i = 0; i < stored.row.layout->code_values; ++i) ASSERT_EQ(stored.Code(i), stored.NanCode()) << i;
  for (int i = 0; i < stored.row.layout->rope_values; ++i) ASSERT_EQ(stored.rope[i], 0x7FFF) << i;
  stored.ExpectFloorScales();
}

TEST(HostNonFinite, NanInKvMakesTheTokenNan) {
  for (const Operation op : kStoring) {
    Case c = WindowCase(op);
    StateRow(c, 0)[77] = kNan;
    ExpectAllNan(c);
  }
}

TEST(HostNonFinite, NanScoreMakesTheTokenNan) {
  for (const Operation op : kStoring) {
    Case c = WindowCase(op);
    StateRow(c, 1)[c.params.state_width + 3] = kNan;
    ExpectAllNan(c);
  }
}

TEST(HostNonFinite, PositiveInfiniteScoreMakesTheTokenNan) {
  for (const Operation op : kStoring) {
    Case c = WindowCase(op);
    StateRow(c, 1)[c.params.state_width + 3] = kInfinity;
    ExpectAllNan(c);
  }
}

TEST(HostNonFinite, ColumnWithoutAFiniteScoreMakesTheTokenNan) {
  for (const Operation op : kStoring) {
    Case c = WindowCase(op);
    for (const std::int64_t row : {0, 1}) StateRow(c, row)[c.params.state_width + 3] = -kInfinity;
    ExpectAllNan(c);
  }
}

TEST(HostNonFinite, OneNegativeInfiniteScoreOnlyDropsItsRow) {
  Case c = WindowCase(Operation::kIndexerFp8);
  StateRow(c, 0)[c.params.state_width + 3] = -kInfinity;
  Case same = c;
  StateRow(same, 0)[c.params.state_width + 3] = -1000.0F;
  EXPECT_EQ(RunHost(c).at("kv_cache"), RunHost(same).at("kv_cache"));
}

TEST(HostNonFinite, InfiniteKvZeroesTheTokenButItsColumn) {
  for (const Operation op : kStoring) {
    Case c = WindowCase(op);
    StateRow(c, 0)[10] = -kInfinity;
    const Stored stored(c);
    const int partner = op == Operation::kSparseAttn ? 10 : 11;  // head 128: the whole head is rotated
    for (int i = 0; i < stored.row.layout->code_values; ++i) {
      if (i == 10 || i == partner) {
        ASSERT_EQ(stored.Code(i), stored.NanCode()) << stored.row.name << " " << i;
      } else {
        ASSERT_EQ(stored.Magnitude(i), 0) << stored.row.name << " " << i;
      }
    }
    for (int i = 0; i < stored.row.layout->rope_values; ++i) ASSERT_EQ(stored.rope[i] & 0x7FFF, 0);
    stored.ExpectFloorScales();
  }
}

TEST(HostNonFinite, InfiniteKvInARotatedPairReachesBothBf16Values) {
  Case c = WindowCase(Operation::kSparseAttn);
  StateRow(c, 0)[448 + 6] = kInfinity;
  const Stored stored(c);
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(stored.rope[i] & 0x7FFF, i == 6 || i == 7 ? 0x7FFF : 0) << i;
  }
}

TEST(HostNonFinite, OverflowingSumOfSquaresZeroesTheToken) {
  for (const Operation op : kStoring) {
    Case c = WindowCase(op);
    for (const std::int64_t row : {0, 1}) StateRow(c, row)[9] = 1e20F;
    const Stored stored(c);
    for (int i = 0; i < stored.row.layout->code_values; ++i) ASSERT_EQ(stored.Magnitude(i), 0) << i;
    stored.ExpectFloorScales();
  }
}

TEST(HostNonFinite, MeanOfTheLargestValuesDoesNotOverflow) {
  Case c = CompressCase(Operation::kGatherSplit, 4, 4, false);
  for (const std::int64_t row : {0, 1, 2, 3}) std::fill_n(StateRow(c, row), 512, 0.75F * FLT_MAX);
  EXPECT_EQ(RunHost(c).at("scratch").as<float>()[3 * 513 + 100], 0.75F * FLT_MAX);
}

TEST(HostNonFinite, ScratchNanIsCanonical) {
  Case c = CompressCase(Operation::kGatherSplit, 2, 2, false);
  StateRow(c, 0)[5] = kInfinity;
  StateRow(c, 1)[5] = -kInfinity;
  const TensorMap out = RunHost(c);
  EXPECT_EQ(out.at("scratch").as<std::uint32_t>()[513 + 5], 0x7FFFFFFFU);
  EXPECT_EQ(out.at("scratch").as<float>()[513 + 4], 0.0F);
}

TEST(HostNonFinite, InfiniteNormedValueTakesTheLargestScale) {
  for (const Operation op : kStoring) {
    Case c = CompressCase(op, 1, 1, false);
    std::fill_n(StateRow(c, 0), c.params.head_dim, 1024.0F);
    Elements<float>(c.inputs, "rms_norm_weight")[0] = FLT_MAX;  // infinite in bf16
    const Stored stored(c);
    if (op == Operation::kIndexerFp8) {
      float scale = 0;
      std::memcpy(&scale, stored.scales, sizeof scale);
      EXPECT_EQ(scale, kInfinity);
    } else {
      EXPECT_EQ(stored.scales[0], stored.fp4() ? 254 : 255);
    }
    EXPECT_EQ(stored.Code(0), stored.NanCode());
    EXPECT_EQ(stored.Magnitude(2), 0);
  }
}

}  // namespace
}  // namespace kvexact
