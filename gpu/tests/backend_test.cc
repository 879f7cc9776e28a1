// SPDX-License-Identifier: Apache-2.0
// Launches of the C interface are understood without a device: every drawn case is one that the kernels serve.
#include <gtest/gtest.h>

#include "gpu/backend_launch.h"
#include "harness/backend/abi_launch.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"

namespace kvexact::gpu {
namespace {

TEST(BackendLaunch, ServesDrawnCasesOfEveryOperation) {
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  settings.max_configs = 96;
  for (std::uint64_t i = 0; i < 192; ++i) {
    const Case c = Generate(Draw(settings, i));
    const AbiLaunch launch(c);
    const Status status = CheckShapes(*launch.get());
    EXPECT_TRUE(status.ok()) << c.name << ": " << status.message;
  }
}

TEST(BackendLaunch, MissingTensorIsNamed) {
  Case c = Generate(DefaultSpec(spec::Operation::kSparseAttn));
  c.inputs.erase("block_table");
  const AbiLaunch launch(c);
  const Status status = CheckShapes(*launch.get());
  EXPECT_EQ(status.code, StatusCode::kInvalid);
  EXPECT_EQ(status.message, "block_table: is missing");
}

TEST(BackendLaunch, UnknownOperationIsUnsupported) {
  const Case c = Generate(DefaultSpec(spec::Operation::kSparseAttn));
  const AbiLaunch launch(c);
  kvexact_params params = *launch.get()->params;
  params.operation = 99;
  kvexact_launch changed = *launch.get();
  changed.params = &params;
  EXPECT_EQ(CheckShapes(changed).code, StatusCode::kUnsupported);
}

}  // namespace
}  // namespace kvexact::gpu
