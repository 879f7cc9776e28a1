// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;

constexpr std::uint16_t kOne = 0x3F80;
constexpr std::uint16_t kInfinity = 0x7F80;
constexpr std::uint16_t kNan = 0x7FC0;

Case Fp8Case() { return IndexerQCase(Operation::kIndexerQFp8, 1, 2, DType::kF32, DType::kF32); }
Case Mxfp4Case(DType out) { return IndexerQCase(Operation::kIndexerQMxfp4, 1, 1, DType::kBf16, out); }

// Sets the first values of a head from bf16 bits.
void SetQ(Case& c, std::int64_t head, std::initializer_list<std::uint16_t> bits) {
  std::copy(bits.begin(), bits.end(), Elements<std::uint16_t>(c.inputs, "index_q") + head * 128);
}

TEST(HostIndexerQ, Fp8FoldsTheScaleIntoTheWeight) {
  Case c = Fp8Case();
  c.params.softmax_scale = 0.25;
  c.params.head_scale = 3;
  Elements<float>(c.inputs, "index_weights")[0] = 5.0F;
  SetQ(c, 0, {0x4460, 0xC000, 0xBF80});  // 896, -2, -1
  const TensorMap out = RunHost(c);
  EXPECT_EQ(out.at("q_fp8").bytes()[0], 0x7E);
  EXPECT_EQ(out.at("q_fp8").bytes()[1], 0xB8);
  EXPECT_EQ(out.at("q_fp8").bytes()[2], 0xB0);
  EXPECT_EQ(out.at("weights_out").as<float>()[0], 5.0F * 2.0F * 0.25F * 3.0F);
  EXPECT_EQ(out.at("weights_out").as<float>()[1], 0x1p-22F * 0.25F * 3.0F);  // a head of zeros: the floor
}

TEST(HostIndexerQ, NoHeadsStoreNothing) {
  for (const Operation op : {Operation::kIndexerQFp8, Operation::kIndexerQMxfp4}) {
    const TensorMap out = RunHost(IndexerQCase(op, 3, 0, DType::kF32, DType::kF32));
    EXPECT_EQ(out.at("weights_out").elements(), 0);
  }
}

TEST(HostIndexerQ, FnuzHalvesTheRangeAndHasOneZero) {
  Case c = Fp8Case();
  c.params.q_fnuz = true;
  SetQ(c, 0, {0x4360, 0x8000, kOne});  // 224, -0, 1
  const TensorMap out = RunHost(c);
  EXPECT_EQ(out.at("q_fp8").bytes()[0], 0x7E);
  EXPECT_EQ(out.at("q_fp8").bytes()[1], 0x00);
  EXPECT_EQ(out.at("q_fp8").bytes()[2], 0x40);
  EXPECT_EQ(out.at("weights_out").as<float>()[0], 1.0F);
}

TEST(HostIndexerQ, RotatesTheLastDims) {
  Case c = Fp8Case();
  float* table = Elements<float>(c.inputs, "cos_sin_cache");
  table[0] = 0.0F, table[32] = 1.0F;
  std::uint16_t* q = Elements<std::uint16_t>(c.inputs, "index_q");
  q[0] = 0x43E0;  // 448 keeps the exponent at 0
  q[64] = 0x4000, q[65] = 0x4080;
  q[66] = 0x4000, q[67] = 0x4080;
  const TensorMap out = RunHost(c);
  const std::uint8_t* codes = out.at("q_fp8").bytes();
  EXPECT_EQ(codes[64], 0xC8);  // -4
  EXPECT_EQ(codes[65], 0x40);  // 2
  EXPECT_EQ(codes[66], 0x40);
  EXPECT_EQ(codes[67], 0x48);
}

TEST(HostIndexerQ, Mxfp4ScalesBlocksAndNotWeights) {
  Case c = Mxfp4Case(DType::kF32);
  c.params.softmax_scale = 0.5;
  c.params.head_scale = 3;
  SetQ(c, 0, {kOne, 0x40C0});                                 // block 0: 1, 6
  Elements<std::uint16_t>(c.inputs, "index_q")[33] = 0x40C1;  // block 1: 6.03125
  Elements<std::uint16_t>(c.inputs, "index_q")[64] = 0xBDCD;  // block 2: -0.1001
  const TensorMap out = RunHost(c);
  EXPECT_EQ(out.at("q_packed").bytes()[0], 0x72);
  EXPECT_EQ(out.at("q_packed").bytes()[16], 0x50);  // 3.015625 to 3
  EXPECT_EQ(out.at("q_packed").bytes()[32], 0x0D);  // -3.203 to -3
  const std::uint8_t* scales = out.at("q_scale").bytes();
  EXPECT_EQ(scales[0], 127);
  EXPECT_EQ(scales[1], 128);
  EXPECT_EQ(scales[2], 122);
  EXPECT_EQ(scales[3], 1);
  EXPECT_EQ(out.at("weights_out").as<float>()[0], 1.5F);
}

TEST(HostIndexerQ, Bf16WeightsAreRoundedOnce) {
  Case c = Mxfp4Case(DType::kBf16);
  c.params.softmax_scale = 1.00390625;  // 1 + 2^-8, a tie in bf16
  c.params.head_scale = 1;
  EXPECT_EQ(RunHost(c).at("weights_out").as<std::uint16_t>()[0], kOne);
  c.params.head_scale = 1.0000001192092896;  // above the tie
  EXPECT_EQ(RunHost(c).at("weights_out").as<std::uint16_t>()[0], kOne + 1);
}

TEST(HostIndexerQ, NanStaysInItsElementOrPair) {
  Case c = Fp8Case();
  std::uint16_t* q = Elements<std::uint16_t>(c.inputs, "index_q");
  q[0] = kNan, q[1] = 0xC3E0, q[100] = kNan;  // -448; 100 is rotated with 101
  const TensorMap out = RunHost(c);
  const std::uint8_t* codes = out.at("q_fp8").bytes();
  for (int i = 0; i < 128; ++i) {
    const bool nan = i == 0 || i == 100 || i == 101;
    EXPECT_EQ(codes[i], nan ? 0x7F : i == 1 ? 0xFE : 0x00) << i;
  }
  EXPECT_EQ(out.at("weights_out").as<float>()[0], 1.0F);

  Case fp4 = Mxfp4Case(DType::kF32);
  SetQ(fp4, 0, {kNan, 0x40C0, kOne});
  const TensorMap packed = RunHost(fp4);
  EXPECT_EQ(packed.at("q_packed").bytes()[0], 0x77);
  EXPECT_EQ(packed.at("q_packed").bytes()[1], 0x02);
  EXPECT_EQ(packed.at("q_scale").bytes()[0], 127);
}

TEST(HostIndexerQ, InfinityTakesTheScale) {
  Case c = Fp8Case();
  SetQ(c, 0, {kOne, 0xFF80, 0xBF80});
  Elements<float>(c.inputs, "index_weights")[0] = -2.0F;
  const TensorMap out = RunHost(c);
  EXPECT_EQ(out.at("q_fp8").bytes()[0], 0x00);
  EXPECT_EQ(out.at("q_fp8").bytes()[1], 0x7F);
  EXPECT_EQ(out.at("q_fp8").bytes()[2], 0x80);
  EXPECT_EQ(out.at("weights_out").as<float>()[0], -std::numeric_limits<float>::infinity());

  Elements<float>(c.inputs, "index_weights")[0] = 0.0F;
  EXPECT_EQ(RunHost(c).at("weights_out").as<std::uint32_t>()[0], 0x7FFFFFFFU);

  Case fp4 = Mxfp4Case(DType::kF32);
  SetQ(fp4, 0, {kOne, 0xFF80, kInfinity, 0x8000});
  const TensorMap packed = RunHost(fp4);
  EXPECT_EQ(packed.at("q_scale").bytes()[0], 0xFE);
  EXPECT_EQ(packed.at("q_packed").bytes()[0], 0xF0);
  EXPECT_EQ(packed.at("q_packed").bytes()[1], 0x87);
}

TEST(HostIndexerQ, TokensBehindNumActualAreInert) {
  for (const Operation op : {Operation::kIndexerQFp8, Operation::kIndexerQMxfp4}) {
    Case c = IndexerQCase(op, 3, 2, DType::kF32, DType::kF32);
    FillRandom(c, 4);
    c.params.num_actual = 2;
    Elements<std::int64_t>(c.inputs, "positions")[2] = std::int64_t{1} << 40;
    const TensorMap out = RunHost(c);
    for (const auto& [name, after] : out) {
      const Tensor& before = c.outputs_before.at(name);
      const std::int64_t token = after.size_bytes() / 3;
      EXPECT_TRUE(std::equal(after.bytes() + 2 * token, after.bytes() + 3 * token, before.bytes() + 2 * token)) << name;
      EXPECT_FALSE(std::equal(after.bytes() + token, after.bytes() + 2 * token, before.bytes() + token)) << name;
    }
  }
}

}  // namespace
}  // namespace kvexact
