// SPDX-License-Identifier: Apache-2.0
// Faults that several failures have in common.
#include "harness/faults/common_cause.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "harness/faults/fault_backend.h"
#include "harness/generate/generate.h"

namespace kvexact {
namespace {

class Failures {
 public:
  // What the backend stores for the case that the line describes.
  void Add(const std::string& backend, const std::string& spec) {
    const Case c = Generate(ParseSpec(spec));
    auto evidence = std::make_unique<Evidence>(Evidence{c, c.outputs_before, c.outputs_before});
    const auto subject = backend == "reference" ? MakeReferenceBackend() : OpenFaultBackend(backend);
    ASSERT_EQ(subject->Run(c, evidence->after).status, RunStatus::kOk);
    kept_.push_back(std::move(evidence));
    pointers_.push_back(kept_.back().get());
  }
  std::vector<CommonCause> Causes(int searches = 3) const { return FindCommonCauses(pointers_, {}, searches); }
  Evidence& operator[](std::size_t i) { return *kept_[i]; }

 private:
  std::vector<std::unique_ptr<Evidence>> kept_;
  std::vector<const Evidence*> pointers_;
};

bool Names(const CommonCause& cause, const std::string& fault) {
  return std::any_of(cause.suspects.begin(), cause.suspects.begin() + static_cast<std::ptrdiff_t>(cause.tied),
                     [&](const Suspect& s) { return s.name() == fault; });
}

std::string Sparse(int seed) { return "op=sparse_attn requests=0+12,3+9 seed=" + std::to_string(seed); }
std::string Q(int seed) { return "op=indexer_q_fp8 heads=4 requests=5+3 seed=" + std::to_string(seed); }

TEST(CommonCause, OneFaultExplainsAll) {
  Failures failures;
  for (int seed = 1; seed <= 4; ++seed) failures.Add("fault:rope-sign", Sparse(seed));
  const std::vector<CommonCause> causes = failures.Causes();
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_TRUE(Names(causes[0], "rope-sign"));
  std::vector<std::size_t> explained = causes[0].failures;
  std::sort(explained.begin(), explained.end());
  EXPECT_EQ(explained, (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(CommonCause, TwoFaultsAreTwoCauses) {
  Failures failures;
  for (int seed = 1; seed <= 3; ++seed) {
    failures.Add("fault:rope-sign", Sparse(seed));
    failures.Add("fault:q-fold-missing", Q(seed));
  }
  const std::vector<CommonCause> causes = failures.Causes();
  ASSERT_EQ(causes.size(), 2U);
  for (const CommonCause& cause : causes) {
    EXPECT_EQ(cause.failures.size(), 3U);
    const bool q = cause.failures.front() % 2 == 1;
    EXPECT_TRUE(Names(cause, q ? "q-fold-missing" : "rope-sign"));
    for (const std::size_t i : cause.failures) EXPECT_EQ(i % 2 == 1, q);
  }
}

TEST(CommonCause, AFaultThatFitsOneOfManyIsChance) {
  Failures failures;
  failures.Add("fault:rope-sign", Sparse(1));
  for (int seed = 2; seed <= 5; ++seed) {
    failures.Add("reference", Sparse(seed));
    // A bit of the first stored bytes: no fault does that.
    const TensorMap& before = failures[static_cast<std::size_t>(seed) - 1].before;
    Tensor& cache = failures[static_cast<std::size_t>(seed) - 1].after.find("kv_cache")->second;
    for (std::int64_t i = 0, changed = 0; changed < 5; ++i) {
      if (cache.bytes()[i] == before.find("kv_cache")->second.bytes()[i]) continue;
      if (++changed % 2 == 1) cache.bytes()[i] ^= 0x15;
    }
  }
  EXPECT_TRUE(failures.Causes(9).empty());
}

TEST(CommonCause, SearchesNoMoreThanAsked) {
  Failures failures;
  for (int seed = 1; seed <= 3; ++seed) failures.Add("fault:rope-sign", Sparse(seed));
  EXPECT_TRUE(failures.Causes(0).empty());
  EXPECT_EQ(failures.Causes(1).size(), 1U);
}

TEST(CommonCause, LeavesOutWhatIsRightOrLarge) {
  Failures failures;
  failures.Add("reference", Sparse(1));
  failures.Add("fault:q-fold-missing", "op=indexer_q_fp8 heads=64 requests=0+33 seed=1");
  EXPECT_TRUE(failures.Causes().empty());
}

}  // namespace
}  // namespace kvexact
