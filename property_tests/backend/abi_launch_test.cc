// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/abi_launch.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "property_tests/backend/small_cases.h"

namespace kvexact {
namespace {

using spec::Operation;

TEST(AbiLaunch, TensorsHaveTypeShapeStrideAndMemory) {
  const Case c = IndexerQCase(Operation::kIndexerQMxfp4, 3, 5, DType::kBf16, DType::kF32);
  TensorMap inputs = c.inputs;
  TensorMap outputs = c.outputs_before;
  const AbiLaunch launch(c, inputs, outputs);
  ASSERT_EQ(launch.get()->num_tensors, 7U);
  const kvexact_tensor* q = kvexact_find_tensor(launch.get(), "index_q");
  ASSERT_NE(q, nullptr);
  EXPECT_EQ(q->struct_size, sizeof(kvexact_tensor));
  EXPECT_EQ(q->dtype, KVEXACT_BF16);
  EXPECT_EQ(q->memory, KVEXACT_MEMORY_HOST);
  EXPECT_EQ(q->rank, 3);
  EXPECT_EQ(q->shape[0], 3);
  EXPECT_EQ(q->shape[1], 5);
  EXPECT_EQ(q->shape[2], 128);
  EXPECT_EQ(q->strides[0], 5 * 128);
  EXPECT_EQ(q->strides[1], 128);
  EXPECT_EQ(q->strides[2], 1);
  EXPECT_EQ(q->data, inputs.at("index_q").bytes());
  EXPECT_EQ(q->size_bytes, 3U * 5U * 128U * 2U);
  EXPECT_EQ(q->is_output, 0);
  const kvexact_tensor* scales = kvexact_find_tensor(launch.get(), "q_scale");
  ASSERT_NE(scales, nullptr);
  EXPECT_EQ(scales->is_output, 1);
  EXPECT_EQ(scales->data, outputs.at("q_scale").bytes());
  EXPECT_EQ(kvexact_find_tensor(launch.get(), "q_fp8"), nullptr);
  EXPECT_EQ(launch.get()->kv_layout, nullptr);
}

TEST(AbiLaunch, ConfigurationAloneHasNoMemory) {
  const Case c = CompressCase(Operation::kSparseAttn, 4, 2, true);
  const AbiLaunch launch(c);
  EXPECT_NE(launch.get()->kv_layout, nullptr);
  EXPECT_EQ(launch.get()->params->overlap, 1);
  for (std::uint32_t i = 0; i < launch.get()->num_tensors; ++i) {
    EXPECT_EQ(launch.get()->tensors[i]->data, nullptr) << launch.get()->tensors[i]->name;
    EXPECT_GT(launch.get()->tensors[i]->size_bytes, 0U);
  }
}

TEST(AbiLaunch, OperationsKeepTheirNumbers) {
  const std::pair<Operation, int> numbers[] = {{Operation::kSparseAttn, 0},   {Operation::kIndexerFp8, 1},
                                               {Operation::kIndexerMxfp4, 2}, {Operation::kTwoStage, 3},
                                               {Operation::kGatherSplit, 4},  {Operation::kFinalize, 5}};
  for (const auto& [op, number] : numbers) {
    const Case c = CompressCase(op, 2, 1, false);
    EXPECT_EQ(AbiLaunch(c).get()->params->operation, number) << c.row().name;
  }
  Case fp8 = IndexerQCase(Operation::kIndexerQFp8, 1, 1, DType::kF32, DType::kF32);
  EXPECT_EQ(AbiLaunch(fp8).get()->params->operation, 6);
  EXPECT_EQ(AbiLaunch(fp8).get()->params->q_code_type, KVEXACT_E4M3FN);
  fp8.params.q_fnuz = true;
  EXPECT_EQ(AbiLaunch(fp8).get()->params->q_code_type, KVEXACT_E4M3FNUZ);
  const Case mxfp4 = IndexerQCase(Operation::kIndexerQMxfp4, 1, 1, DType::kF32, DType::kF32);
  EXPECT_EQ(AbiLaunch(mxfp4).get()->params->operation, 7);
  EXPECT_EQ(AbiLaunch(mxfp4).get()->params->q_code_type, KVEXACT_E2M1);
}

// Version 1 is what compiled backends expect: appending is allowed, moving is not.
TEST(AbiLaunch, Version1LayoutIsFrozen) {
  ASSERT_EQ(sizeof(void*), 8U);
  EXPECT_EQ(offsetof(kvexact_tensor, name), 16U);
  EXPECT_EQ(offsetof(kvexact_tensor, shape), 24U);
  EXPECT_EQ(offsetof(kvexact_tensor, strides), 56U);
  EXPECT_EQ(offsetof(kvexact_tensor, data), 88U);
  EXPECT_EQ(offsetof(kvexact_tensor, size_bytes), 96U);
  EXPECT_EQ(offsetof(kvexact_tensor, is_output), 104U);
  EXPECT_EQ(offsetof(kvexact_params, head_dim), 8U);
  EXPECT_EQ(offsetof(kvexact_params, num_splits), 72U);
  EXPECT_EQ(offsetof(kvexact_params, overlap), 80U);
  EXPECT_EQ(offsetof(kvexact_params, q_code_type), 96U);
  EXPECT_EQ(offsetof(kvexact_kv_layout, code_values), 16U);
  EXPECT_EQ(offsetof(kvexact_kv_layout, pages), 112U);
  EXPECT_EQ(offsetof(kvexact_launch, tensors), 8U);
  EXPECT_EQ(offsetof(kvexact_launch, kv_layout), 24U);
  EXPECT_EQ(offsetof(kvexact_backend_info, name), 16U);
  EXPECT_EQ(offsetof(kvexact_backend_info, budget), 48U);
  EXPECT_EQ(offsetof(kvexact_backend_api, describe), 8U);
  EXPECT_EQ(offsetof(kvexact_backend_api, destroy), 48U);
}

}  // namespace
}  // namespace kvexact
