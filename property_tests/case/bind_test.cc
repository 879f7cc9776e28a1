// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>

#include "harness/case/case.h"
#include "property_tests/case/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;
using test::SmallCase;

float Widened(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

TEST(CompressBinding, BorrowsTensorsWithTheirStrides) {
  const Case c = SmallCase(Operation::kSparseAttn);
  const CompressBinding binding(c);
  const CompressInputs& in = binding.inputs();
  EXPECT_EQ(in.window_rows(), 4);
  EXPECT_EQ(in.state_cache.data(), c.inputs.at("state_cache").as<float>());
  EXPECT_EQ(in.state_cache.rows(), 5);
  EXPECT_EQ(in.state_cache.outerStride(), c.inputs.at("state_cache").dim(1));
  EXPECT_EQ(in.block_table(1, 0), 3);
  EXPECT_EQ(in.cos_sin.cols(), 66);
  EXPECT_EQ(in.positions.size(), 6);
  EXPECT_EQ(in.scratch.size(), 0);
  EXPECT_EQ(in.num_actual, 5);
}

TEST(CompressBinding, WidensBf16NormWeights) {
  const Case c = SmallCase(Operation::kIndexerFp8);
  const CompressBinding binding(c);
  const std::uint16_t* bits = c.inputs.at("rms_norm_weight").as<std::uint16_t>();
  ASSERT_EQ(binding.inputs().norm_weight.size(), 128);
  for (int i = 0; i < 128; ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(binding.inputs().norm_weight[i]),
              std::bit_cast<std::uint32_t>(Widened(bits[i])));
  }
}

TEST(CompressBinding, LeavesEmptyWhatTheOperationDoesNotRead) {
  const Case gather = SmallCase(Operation::kGatherSplit);
  const CompressBinding gather_binding(gather);
  EXPECT_EQ(gather_binding.inputs().kv_slot_mapping.size(), 0);
  EXPECT_EQ(gather_binding.inputs().norm_weight.size(), 0);
  const Case finalize = SmallCase(Operation::kFinalize);
  const CompressBinding finalize_binding(finalize);
  EXPECT_EQ(finalize_binding.inputs().state_cache.size(), 0);
  EXPECT_EQ(finalize_binding.inputs().scratch.cols(), 520);
}

TEST(IndexerQBinding, WidensAndFlattens) {
  const Case c = SmallCase(Operation::kIndexerQMxfp4);
  const IndexerQBinding binding(c);
  const IndexerQInputs& in = binding.inputs();
  EXPECT_EQ(in.codes, QCodes::kE2M1);
  EXPECT_TRUE(in.weights_out_bf16);
  EXPECT_EQ(in.q.rows(), 9);
  EXPECT_EQ(in.q.data(), c.inputs.at("index_q").as<std::uint16_t>());
  EXPECT_EQ(std::bit_cast<std::uint32_t>(in.weights(2, 1)),
            std::bit_cast<std::uint32_t>(Widened(c.inputs.at("index_weights").as<std::uint16_t>()[7])));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(in.cos_sin(1, 0)),
            std::bit_cast<std::uint32_t>(Widened(c.inputs.at("cos_sin_cache").as<std::uint16_t>()[64])));
}

TEST(IndexerQBinding, TellsTheCodes) {
  Case c = SmallCase(Operation::kIndexerQFp8);
  EXPECT_EQ(IndexerQBinding(c).inputs().codes, QCodes::kE4M3Fnuz);
  c.params.q_fnuz = false;
  EXPECT_EQ(IndexerQBinding(c).inputs().codes, QCodes::kE4M3Fn);
}

TEST(OutputViews, PointIntoTheBuffers) {
  const Case c = SmallCase(Operation::kTwoStage);
  TensorMap outputs = c.outputs_before;
  EXPECT_EQ(BindCompressOutputs(c, outputs).cache_bytes, outputs.at("kv_cache").bytes());
  EXPECT_EQ(BindCompressOutputs(c, outputs).scratch, nullptr);
  const Case gather = SmallCase(Operation::kGatherSplit);
  TensorMap rows = gather.outputs_before;
  EXPECT_EQ(BindCompressOutputs(gather, rows).scratch, rows.at("scratch").as<float>());
  EXPECT_EQ(BindCompressOutputs(gather, rows).scratch_stride, 512);
  EXPECT_EQ(BindCompressOutputs(gather, rows).cache.pages, 0);
  const Case q = SmallCase(Operation::kIndexerQFp8);
  TensorMap buffers = q.outputs_before;
  EXPECT_EQ(BindIndexerQOutputs(q, buffers).codes, buffers.at("q_fp8").bytes());
  EXPECT_EQ(BindIndexerQOutputs(q, buffers).scales, nullptr);
  EXPECT_EQ(BindIndexerQOutputs(q, buffers).weights, buffers.at("weights_out").bytes());
}

TEST(CacheOf, HasTheStridesOfTheCase) {
  Case c = SmallCase(Operation::kIndexerFp8);
  c.params.token_stride = 132;
  c.params.scale_dim = 8;
  c.params.kv_cache_base_offset = 4;
  const spec::PagedCache cache = CacheOf(c);
  EXPECT_EQ(cache.pages, 3);
  EXPECT_EQ(cache.page_stride, 280);
  EXPECT_EQ(cache.codes(3), 4 + 280 + 132);
  EXPECT_EQ(cache.scales(3), 4 + 280 + 2 * 132 + 8);
}

}  // namespace
}  // namespace kvexact
