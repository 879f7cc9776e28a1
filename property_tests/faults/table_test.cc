// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harness/faults/fault.h"
#include "harness/faults/fault_backend.h"
#include "harness/faults/run_variant.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

// Faults that public kernels shipped or nearly shipped; the table holds them by these names and more besides.
constexpr const char* kKnown[] = {
    "scale-floor",
    "scale-nearest",
    "scale-ocp-ceil",
    "scale-approx-log2",
    "scale-ln-log2",
    "scale-double-at-power",
    "scale-stored-not-used",
    "scale-used-not-stored",
    "scale-floor-on-scale",
    "scale-no-floor",
    "scale-byte-wrap",
    "scale-shared",
    "scale-neighbour",
    "scale-mantissa-leak",
    "amax-signed",
    "amax-skip-last",
    "amax-before-rope",
    "fp8-divisor-240",
    "fp8-clamp-240",
    "fp8-no-bf16",
    "fp8-fp16-first",
    "fp8-ties-away",
    "fp8-carry-lost",
    "fp8-subnormal",
    "fp8-overflow-nan",
    "fp8-multiply-scale",
    "fnuz-code",
    "fp4-ties-up",
    "fp4-ties-down",
    "fp4-lost-sign",
    "fp4-nibble-order",
    "fp4-halves",
    "fp4-amax-even",
    "rope-neox",
    "rope-first-dims",
    "rope-raw-position",
    "rope-index-position",
    "rope-sign",
    "rope-cos-for-sin",
    "rope-from-bf16",
    "rope-none",
    "norm-no-eps",
    "norm-sum",
    "norm-weight-first",
    "norm-weight-bf16",
    "softmax-no-max",
    "softmax-base2",
    "softmax-over-dims",
    "gather-no-overlap",
    "gather-overlap-head",
    "gather-swap-halves",
    "gather-mask-zero-score",
    "gather-off-by-one",
    "gather-req-zero",
    "gather-logical-block",
    "gather-boundary",
    "store-negative-slot",
    "store-ignore-slot-mapping",
    "store-interleaved-scales",
    "store-page-unpadded",
    "store-pad-byte",
    "store-scale-fp32",
    "store-rope-offset",
    "two-stage-offset",
    "two-stage-stale",
    "q-fold-missing",
    "q-fold-inverse",
    "q-scale-per-token",
    "q-nope-rotated",
    "amax-no-bf16",
    "rope-bf16-input-128",
    "two-stage-no-clamp",
    "num-actual-ignored",
    "cos-sin-stride",
    "state-stride-from-shape",
    "fnuz-minus-zero",
    "dispatch-512-fp4",
};

TEST(FaultTable, HoldsEveryKnownFaultByName) {
  for (const char* name : kKnown) EXPECT_NE(FindFault(name), nullptr) << name;
}

TEST(FaultTable, NamesAreDistinctAndRowsComplete) {
  std::set<std::string> names;
  for (const Fault& fault : Faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_NE(std::string(fault.summary), "") << fault.name;
    EXPECT_NE(std::string(fault.exposed_by), "") << fault.name;
    EXPECT_NE(fault.operations, 0U) << fault.name;
    EXPECT_EQ(fault.fault_class == FaultClass::kEquivalent, std::string(fault.proof) != "") << fault.name;
  }
}

TEST(FaultTable, AnUnknownNameIsRefused) {
  EXPECT_THROW(OpenFaultBackend("fault:no-such-fault"), InputError);
  EXPECT_THROW(OpenFaultBackend("fault:scale-floor+no-such-fault"), InputError);
  EXPECT_EQ(OpenFaultBackend("fault:scale-floor+rope-sign")->info().name, "fault:scale-floor+rope-sign");
}

std::vector<Case> Cases(std::uint64_t count) {
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  settings.seed = 77;
  std::vector<Case> cases;
  for (std::uint64_t i = 0; i < count; ++i) cases.push_back(Generate(Draw(settings, i)));
  return cases;
}

TEST(FaultTable, BoundsChangeNothingThatTheModelDoes) {
  const auto reference = MakeReferenceBackend();
  for (const Case& c : Cases(96)) {
    TensorMap want = c.outputs_before;
    TensorMap got = c.outputs_before;
    ASSERT_EQ(reference->Run(c, want).status, RunStatus::kOk);
    RunVariant(BoundedVariant(), Strict(), c, got);
    ASSERT_EQ(got, want) << c.name;
  }
}

TEST(FaultTable, AFaultChangesOnlyTheOperationsOfItsRow) {
  const auto reference = MakeReferenceBackend();
  for (const Case& c : Cases(24)) {
    TensorMap want = c.outputs_before;
    ASSERT_EQ(reference->Run(c, want).status, RunStatus::kOk);
    for (const Fault& fault : Faults()) {
      if ((fault.operations & SetOf(c.op)) != 0) continue;
      TensorMap got = c.outputs_before;
      RunVariant(VariantOf(fault), Strict(), c, got);
      EXPECT_EQ(got, want) << fault.name << ' ' << c.row().name << ' ' << c.name;
    }
  }
}

}  // namespace
}  // namespace kvexact
