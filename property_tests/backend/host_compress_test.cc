// SPDX-License-Identifier: Apache-2.0
// The host backend on cases whose bytes follow by hand. With one row and |KV| = 1024 the mean square is 2^20 (eps is
// below half an ulp), so the normed value is the norm weight with the KV's sign.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;

// Two tokens of ratio 1; the first has KV slot 1 (page 0), the second, all of whose values are 0, slot 0.
Case DrivenCase(Operation op) {
  Case c = CompressCase(op, 2, 1, false);
  std::fill_n(StateRow(c, 0), c.params.head_dim, 1024.0F);
  return c;
}

float* Weights(Case& c) { return Elements<float>(c.inputs, "rms_norm_weight"); }

// Bytes of page 0: token areas start at 16, slot 1 is one token stride behind, scales follow both tokens.
const std::uint8_t* Token1(const Case& c, const TensorMap& out) {
  return out.at("kv_cache").bytes() + 16 + c.params.token_stride;
}
const std::uint8_t* Scales1(const Case& c, const TensorMap& out) {
  return out.at("kv_cache").bytes() + 16 + 2 * c.params.token_stride + c.params.scale_dim;
}

std::vector<int> Bytes(const std::uint8_t* first, int n) { return {first, first + n}; }

TEST(HostCompress, SparseAttnCodesAndScales) {
  Case c = DrivenCase(Operation::kSparseAttn);
  float* weight = Weights(c);
  std::fill_n(weight, 64, 448.0F);                  // block 0: exactly 448 * 2^0
  weight[64] = 450.0F, weight[65] = -2.0F;          // block 1: exponent 1; 450 / 2 = 225 rounds to 224
  std::fill_n(weight + 128, 64, 0.0F);              // block 2: the floor
  weight[192] = 4.25F, weight[193] = 1.0F / 64.0F;  // block 3: amax 4.25 / 448 = 1.2 * 2^-7, exponent -6
  StateRow(c, 0)[128] = -1024.0F;                   // -0
  const TensorMap out = RunHost(c);
  const std::uint8_t* codes = Token1(c, out);
  EXPECT_EQ(Bytes(codes, 2), (std::vector<int>{0x7E, 0x7E}));
  EXPECT_EQ(Bytes(codes + 64, 3), (std::vector<int>{0x76, 0xB8, 0x30}));  // 224, -1, 0.5
  EXPECT_EQ(Bytes(codes + 128, 2), (std::vector<int>{0x80, 0x00}));
  EXPECT_EQ(Bytes(codes + 192, 3), (std::vector<int>{0x78, 0x38, 0x68}));  // 272 to 256 (tie), 1, 64
  EXPECT_EQ(Bytes(Scales1(c, out), 8), (std::vector<int>{127, 128, 105, 121, 119, 119, 119, 0}));
}

TEST(HostCompress, SparseAttnRotatesTheLastDimsAndOnlyThem) {
  Case c = DrivenCase(Operation::kSparseAttn);
  float* table = Elements<float>(c.inputs, "cos_sin_cache");
  std::fill_n(table, 32, 0.0F);
  std::fill_n(table + 32, 32, 1.0F);  // a quarter turn: (e, o) to (-o, e)
  Weights(c)[448] = 3.0F, Weights(c)[449] = 5.0F;
  Weights(c)[510] = 1.00390625F;  // 1 + 2^-8: a tie that bf16 rounds to even
  Weights(c)[446] = 1.5F;
  const TensorMap out = RunHost(c);
  std::uint16_t rope[64];
  std::memcpy(rope, Token1(c, out) + 448, sizeof rope);
  EXPECT_EQ(rope[0], 0xC0A0);  // -5
  EXPECT_EQ(rope[1], 0x4040);  // 3
  EXPECT_EQ(rope[62], 0xBF80);
  EXPECT_EQ(rope[63], 0x3F80);
  EXPECT_EQ(Bytes(Token1(c, out) + 446, 2), (std::vector<int>{0x7C, 0x78}));  // 384, 256 at exponent -8
}

TEST(HostCompress, TheAngleIsThatOfTheWindowsFirstPosition) {
  Case c = CompressCase(Operation::kSparseAttn, 8, 4, false);
  for (std::int64_t position = 4; position < 8; ++position) std::fill_n(StateRow(c, position), 512, 1024.0F);
  float* row4 = Elements<float>(c.inputs, "cos_sin_cache") + 4 * 66;
  std::fill_n(row4, 32, 0.0F);
  std::fill_n(row4 + 32, 32, 1.0F);
  Weights(c)[448] = 3.0F, Weights(c)[449] = 5.0F;
  const TensorMap out = RunHost(c);
  std::uint16_t rope[2];
  std::memcpy(rope, out.at("kv_cache").bytes() + 16 + 448, sizeof rope);  // position 7 has slot 0
  EXPECT_EQ(rope[0], 0xC0A0);
  EXPECT_EQ(rope[1], 0x4040);
}

TEST(HostCompress, EpsAddsToTheMeanSquare) {
  Case c = DrivenCase(Operation::kSparseAttn);
  c.params.rms_norm_eps = 3.0 * 1048576.0;  // mean square 2^20 to 2^22
  std::fill_n(Weights(c), 512, 448.0F);
  const TensorMap out = RunHost(c);
  EXPECT_EQ(Scales1(c, out)[0], 126);
  EXPECT_EQ(Token1(c, out)[0], 0x7E);
}

TEST(HostCompress, TheScaleCountsTheFirstAndLastElementOfABlock) {
  Case c = DrivenCase(Operation::kSparseAttn);
  Weights(c)[63] = -450.0F, Weights(c)[128] = 450.0F;
  const TensorMap out = RunHost(c);
  EXPECT_EQ(Bytes(Scales1(c, out), 3), (std::vector<int>{128, 119, 128}));
}

TEST(HostCompress, IndexerFp8StoresOneFp32Scale) {
  Case c = DrivenCase(Operation::kIndexerFp8);
  Weights(c)[0] = -896.0F;
  Weights(c)[127] = 3.0F;
  const TensorMap out = RunHost(c);
  float scale = 0;
  std::memcpy(&scale, Scales1(c, out), sizeof scale);
  EXPECT_EQ(scale, 2.0F);
  EXPECT_EQ(Bytes(Token1(c, out), 2), (std::vector<int>{0xFE, 0x30}));
  EXPECT_EQ(Bytes(Token1(c, out) + 127, 1), (std::vector<int>{0x3C}));  // 1.5
  std::memcpy(&scale, Scales1(c, out) - 4, sizeof scale);
  EXPECT_EQ(scale, 0x1p-22F);  // the other token: floor
}

TEST(HostCompress, IndexerScalesAreOfTheRotatedValues) {
  Case c = DrivenCase(Operation::kIndexerFp8);
  float* table = Elements<float>(c.inputs, "cos_sin_cache");
  table[0] = 0.5F, table[32] = 0.5F;  // first rotated pair, columns 64 and 65
  Weights(c)[64] = 448.0F;            // with 1 to (223.5, 224.5), both 224 in bf16
  const TensorMap out = RunHost(c);
  float scale = 0;
  std::memcpy(&scale, Scales1(c, out), sizeof scale);
  EXPECT_EQ(scale, 0.5F);
  EXPECT_EQ(Bytes(Token1(c, out) + 64, 2), (std::vector<int>{0x7E, 0x7E}));
}

TEST(HostCompress, IndexerMxfp4PacksLowNibbleFirst) {
  Case c = DrivenCase(Operation::kIndexerMxfp4);
  const float ties[] = {1.0F, 6.0F, 0.25F, 0.75F, 1.25F, 1.75F, 2.5F, 3.5F, 5.0F, -5.0F};
  std::copy(std::begin(ties), std::end(ties), Weights(c));
  Weights(c)[32] = 6.03125F;  // bf16 itself; exponent 1
  std::fill_n(Weights(c) + 64, 32, 0.0F);
  const TensorMap out = RunHost(c);
  EXPECT_EQ(Bytes(Token1(c, out), 5), (std::vector<int>{0x72, 0x20, 0x42, 0x64, 0xE6}));
  EXPECT_EQ(Token1(c, out)[16], 0x15);  // 3.015625 to 3, 0.5
  EXPECT_EQ(Bytes(Scales1(c, out), 4), (std::vector<int>{127, 128, 1, 125}));
}

TEST(HostCompress, ScoresWeightEachColumnOnItsOwn) {
  Case c = CompressCase(Operation::kGatherSplit, 4, 2, false);
  for (const std::int64_t position : {2, 3}) {
    float* row = StateRow(c, position);
    std::fill_n(row, c.params.head_dim, position == 2 ? 1.0F : 3.0F);
    row[c.params.state_width + 1] = position == 2 ? 500.0F : -500.0F;
    row[c.params.state_width + 2] = position == 2 ? -300.0F : 300.0F;
  }
  std::memset(c.outputs_before.at("scratch").bytes(), 0xAB, 4 * 513 * sizeof(float));
  const TensorMap out = RunHost(c);
  const float* row3 = out.at("scratch").as<float>() + 3 * 513;
  EXPECT_EQ(row3[0], 2.0F);
  EXPECT_EQ(row3[1], 1.0F);
  EXPECT_EQ(row3[2], 3.0F);
  EXPECT_EQ(row3[511], 2.0F);
  for (const std::int64_t row : {0, 2}) {  // not at a boundary
    EXPECT_EQ(0,
              std::memcmp(out.at("scratch").as<float>() + row * 513, c.outputs_before.at("scratch").bytes(), 513 * 4));
  }
}

TEST(HostCompress, WeightsAreNaturalExponentials) {
  Case c = CompressCase(Operation::kGatherSplit, 2, 2, false);
  StateRow(c, 0)[0] = 1.0F;
  StateRow(c, 0)[c.params.state_width] = 50.0F + 1.0986123F;  // ln 3: weights 3/4 and 1/4
  StateRow(c, 1)[c.params.state_width] = 50.0F;
  EXPECT_NEAR(RunHost(c).at("scratch").as<float>()[513], 0.75F, 2e-6F);
}

// Rows of the window are told apart by a negative sign in columns i % 4 == row.
TEST(HostCompress, OverlapReadsTheFirstHalfForThePreviousWindow) {
  for (std::int64_t chosen = 0; chosen < 4; ++chosen) {
    Case c = CompressCase(Operation::kIndexerFp8, 4, 2, true);
    for (std::int64_t r = 0; r < 4; ++r) {
      float* row = StateRow(c, r);
      std::fill_n(row + c.params.state_width, c.params.state_width, r == chosen ? 0.0F : -1000.0F);
      float* half = row + (r < 2 ? 0 : c.params.head_dim);
      float* other = row + (r < 2 ? c.params.head_dim : 0);
      for (std::int64_t i = 0; i < c.params.head_dim; ++i) half[i] = i % 4 == r ? -1024.0F : 1024.0F;
      std::fill_n(other, c.params.head_dim, 4096.0F);
    }
    const TensorMap out = RunHost(c);
    const std::uint8_t* codes = out.at("kv_cache").bytes() + 16;  // position 3 has slot 0
    for (int i = 0; i < 128; ++i) ASSERT_EQ(codes[i], i % 4 == chosen ? 0xF8 : 0x78) << chosen << " " << i;
  }
}

TEST(HostCompress, RowsBeforeTheFirstPositionHaveNoWeight) {
  Case c = CompressCase(Operation::kIndexerFp8, 2, 2, true);  // window of position 1 starts at -2
  for (const std::int64_t position : {0, 1}) {
    std::fill_n(StateRow(c, position) + c.params.head_dim, c.params.head_dim, 1024.0F);
    std::fill_n(StateRow(c, position) + c.params.state_width, c.params.state_width, -1e30F);
  }
  const TensorMap out = RunHost(c);
  float scale = 0;
  std::memcpy(&scale, out.at("kv_cache").bytes() + 16 + 2 * 128, sizeof scale);
  EXPECT_EQ(scale, 0x1p-8F);
  EXPECT_EQ(out.at("kv_cache").bytes()[16], 0x78);
}

TEST(HostCompress, Bf16NormWeightsAreWidened) {
  Case c = DrivenCase(Operation::kIndexerFp8);
  Tensor weight(DType::kBf16, {128});
  std::fill_n(weight.as<std::uint16_t>(), 128, std::uint16_t{0x43E0});  // 448
  c.inputs["rms_norm_weight"] = weight;
  const TensorMap out = RunHost(c);
  EXPECT_EQ(Token1(c, out)[5], 0x7E);
}

}  // namespace
}  // namespace kvexact
