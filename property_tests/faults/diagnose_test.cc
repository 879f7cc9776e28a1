// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/diagnose.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/faults/fault_backend.h"
#include "harness/faults/kill_table.h"
#include "harness/generate/generate.h"
#include "property_tests/faults/port_kernels.h"

namespace kvexact {
namespace {

KillSettings Settings() {
  KillSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.draw.operations.push_back(row.id);
  return settings;
}

// Diagnoses the subject on the first case that it fails.
Diagnosis DiagnoseFirstFailure(Backend& subject, std::int64_t separating_cases) {
  const Kill kill = FindKill(subject, Settings());
  EXPECT_TRUE(kill.killed) << subject.info().name;
  DiagnoseOptions options;
  options.separating_cases = separating_cases;
  return Diagnose(subject, Generate(ParseSpec(kill.spec)), options);
}

bool TopTieHolds(const Diagnosis& diagnosis, const Fault& fault) {
  return std::any_of(diagnosis.suspects.begin(),
                     diagnosis.suspects.begin() + static_cast<std::ptrdiff_t>(diagnosis.tied),
                     [&](const Suspect& s) { return s.second == nullptr && s.first == &fault; });
}

TEST(Diagnose, NamesTheFaultThatRan) {
  for (const char* name : {"scale-approx-log2", "gather-swap-halves", "softmax-base2", "norm-eps-1e-5", "rope-neox",
                           "fp8-ties-away", "store-pad-byte", "two-stage-offset", "q-fold-missing"}) {
    const Fault& fault = *FindFault(name);
    const auto subject = MakeVariantBackend(name, VariantOf(fault));
    const Diagnosis diagnosis = DiagnoseFirstFailure(*subject, 24);
    EXPECT_FALSE(diagnosis.right);
    EXPECT_TRUE(TopTieHolds(diagnosis, fault)) << name << '\n' << Text(diagnosis);
    EXPECT_LT(diagnosis.tied, 12U) << name << '\n' << Text(diagnosis);
  }
}

TEST(Diagnose, NamesTheFaultOnTopOfAPortsArithmetic) {
  for (const char* name : {"scale-floor", "gather-off-by-one", "softmax-over-dims", "norm-weight-twice", "rope-sign",
                           "fp4-nibble-order"}) {
    const Fault& fault = *FindFault(name);
    const auto subject = MakeVariantBackend(name, VariantOf(fault), PortKernels());
    const Diagnosis diagnosis = DiagnoseFirstFailure(*subject, 24);
    EXPECT_TRUE(TopTieHolds(diagnosis, fault)) << name << '\n' << Text(diagnosis);
  }
}

TEST(Diagnose, NamesNoFaultOfAnHonestPort) {
  const auto host = MakeHostBackend(1);
  const auto port = MakeVariantBackend("port", BoundedVariant(), PortKernels());
  DiagnoseOptions options;
  std::int64_t stored = 0;
  for (std::uint64_t i = 0; i < 48; ++i) {
    const Case c = Generate(Draw(Settings().draw, i));
    for (Backend* subject : {host.get(), port.get()}) {
      const Diagnosis diagnosis = Diagnose(*subject, c, options);
      EXPECT_TRUE(diagnosis.right) << subject->info().name << ' ' << c.name << '\n' << Text(diagnosis);
      EXPECT_TRUE(diagnosis.suspects.empty());
      ++stored;
    }
  }
  EXPECT_EQ(stored, 96);
}

TEST(Diagnose, FindsTwoFaultsAtOnce) {
  const auto subject = OpenFaultBackend("fault:rope-sign+store-pad-byte");
  const Diagnosis diagnosis = Diagnose(*subject, Generate(ParseSpec("op=sparse_attn seed=3 requests=4+12")), {});
  ASSERT_FALSE(diagnosis.suspects.empty());
  const bool found = std::any_of(diagnosis.suspects.begin(), diagnosis.suspects.end(), [](const Suspect& s) {
    return s.second != nullptr && s.name().find("rope-sign") != std::string::npos &&
           s.name().find("store-pad-byte") != std::string::npos;
  });
  EXPECT_TRUE(found) << Text(diagnosis);
}

TEST(Diagnose, SaysThatNoKnownFaultFits) {
  const Case c = Generate(ParseSpec("op=sparse_attn seed=3 requests=4+12"));
  TensorMap after = c.outputs_before;
  const auto reference = MakeReferenceBackend();
  ASSERT_EQ(reference->Run(c, after).status, RunStatus::kOk);
  // One code of the first live token moves by two, and one byte beside it.
  Tensor& cache = after.find("kv_cache")->second;
  for (std::int64_t i = 0, changed = 0; i < cache.size_bytes() && changed < 5; ++i) {
    if (cache.bytes()[i] == c.outputs_before.find("kv_cache")->second.bytes()[i]) continue;
    if (++changed % 2 == 1) cache.bytes()[i] ^= 0x15;
  }
  const Diagnosis diagnosis = Diagnose(c, c.outputs_before, after, {});
  EXPECT_FALSE(diagnosis.right);
  EXPECT_TRUE(diagnosis.suspects.empty()) << Text(diagnosis);
  EXPECT_NE(Text(diagnosis).find("no known fault"), std::string::npos);
}

}  // namespace
}  // namespace kvexact
