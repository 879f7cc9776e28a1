// SPDX-License-Identifier: Apache-2.0
// Every kind of fault, planted into outputs that are right otherwise, is reported as what it is and where it is.
#include "harness/run/run_case.h"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "harness/generate/generate.h"
#include "harness/run/element_sites.h"
#include "property_tests/run/planted_backend.h"
#include "property_tests/run/small_specs.h"

namespace kvexact {
namespace {

using What = Problem::What;

RunOutcome Fine() { return {}; }

std::vector<ElementSite> SitesOf(const Case& c) {
  std::vector<ElementSite> sites;
  ForEachElement(c, SeedStages(), [&](const ElementSite& site) { sites.push_back(site); });
  return sites;
}

// Flips the top bit of the element: its sign, or the largest bit of a scale.
void FlipTopBit(const ElementSite& site, TensorMap& outputs) {
  std::uint8_t* bytes = outputs.at(site.buffer).bytes() + site.byte_offset;
  bytes[site.bytes - 1] ^= site.shift == 0 ? 0x08 : 0x80;
}

void Restore(const ElementSite& site, const TensorMap& before, TensorMap& outputs) {
  const std::uint8_t* from = before.at(site.buffer).bytes() + site.byte_offset;
  std::uint8_t* to = outputs.at(site.buffer).bytes() + site.byte_offset;
  for (int i = 0; i < site.bytes; ++i) {
    const int mask = site.shift < 0 ? 0xFF : 0xF << site.shift;
    to[i] = static_cast<std::uint8_t>((to[i] & ~mask) | (from[i] & mask));
  }
}

// The first byte that nothing writes.
std::pair<std::string, std::int64_t> UnwrittenByte(const Case& c) {
  for (const auto& [name, ranges] : WrittenBytes(c, SeedStages())) {
    std::int64_t free = 0;
    for (const ByteRange& range : ranges) {
      if (range.begin > free) break;
      free = range.end;
    }
    if (free < c.outputs_before.at(name).size_bytes()) return {name, free};
  }
  ADD_FAILURE() << c.name << " writes every byte";
  return {};
}

class RunCaseTest : public testing::TestWithParam<SmallSpec> {
 protected:
  CaseResult Run(const PlantedBackend::Fault& fault) {
    PlantedBackend backend(fault);
    return RunCase(backend, case_, {});
  }
  // Only this many of each.
  static void ExpectCounts(const CaseResult& result, std::int64_t wrong, std::int64_t unwritten, std::int64_t touched,
                           std::int64_t unstable) {
    EXPECT_EQ(result.status, CaseStatus::kJudged) << result.message;
    EXPECT_EQ(result.verdict.total().wrong, wrong);
    EXPECT_EQ(result.verdict.total().unwritten, unwritten);
    EXPECT_EQ(result.verdict.touched, touched);
    EXPECT_EQ(result.unstable_elements(), unstable);
    EXPECT_FALSE(result.right());
    EXPECT_NE(result.evidence, nullptr);
  }
  static void ExpectProblemAt(const CaseResult& result, What what, const ElementSite& site) {
    ASSERT_EQ(result.verdict.problems.size(), 1U);
    const Problem& problem = result.verdict.problems[0];
    EXPECT_EQ(problem.what, what);
    EXPECT_EQ(problem.kind, site.kind);
    EXPECT_EQ(problem.buffer, site.buffer);
    EXPECT_EQ(problem.byte_offset, site.byte_offset);
    EXPECT_EQ(problem.token, site.token);
    EXPECT_EQ(problem.head, site.head);
    EXPECT_EQ(problem.element, site.element);
  }

  const Case case_ = SmallCase(GetParam());
  const std::vector<ElementSite> sites_ = SitesOf(case_);
};

TEST_P(RunCaseTest, ReferenceIsExactAndStable) {
  const std::unique_ptr<Backend> reference = MakeReferenceBackend();
  const CaseResult result = RunCase(*reference, case_, {});
  EXPECT_TRUE(result.right());
  EXPECT_EQ(result.verdict.total().exact, static_cast<std::int64_t>(sites_.size()));
  EXPECT_EQ(result.verdict.total().elements(), static_cast<std::int64_t>(sites_.size()));
  EXPECT_EQ(result.evidence, nullptr);
}

TEST_P(RunCaseTest, HonestPortIsRight) {
  const std::unique_ptr<Backend> host = OpenBackend("host");
  const CaseResult result = RunCase(*host, case_, {});
  EXPECT_TRUE(result.right());
  EXPECT_EQ(result.verdict.total().elements(), static_cast<std::int64_t>(sites_.size()));
}

TEST_P(RunCaseTest, EachCaseRunsTwiceAndInTwoReorderedLaunches) {
  PlantedBackend backend([](const Case&, const TensorMap&, TensorMap&, int) { return Fine(); });
  EXPECT_TRUE(RunCase(backend, case_, {}).right());
  EXPECT_EQ(backend.runs(), 4);
}

TEST_P(RunCaseTest, OneFlippedBitIsOneWrongElement) {
  // The last element of each buffer, so that every kind has its turn.
  std::map<std::pair<std::string, ElementKind>, ElementSite> last;
  for (const ElementSite& site : sites_) last[{site.buffer, site.kind}] = site;
  for (const auto& [key, site] : last) {
    const CaseResult result = Run([&site = site](const Case&, const TensorMap&, TensorMap& outputs, int run) {
      // The launches with other tokens have this element elsewhere.
      if (run < 2) FlipTopBit(site, outputs);
      return Fine();
    });
    // The reordered run stores the right value.
    ExpectCounts(result, 1, 0, 0, 1);
    EXPECT_EQ(result.verdict.problems.front().what, What::kWrong);
    EXPECT_EQ(result.verdict.problems.front().byte_offset, site.byte_offset);
  }
}

TEST_P(RunCaseTest, ElementThatKeepsItsPoisonIsUnwritten) {
  const ElementSite site = sites_[sites_.size() / 2];
  const CaseResult result = Run([&](const Case&, const TensorMap& before, TensorMap& outputs, int run) {
    if (run < 2) Restore(site, before, outputs);
    return Fine();
  });
  ExpectCounts(result, 0, 1, 0, 0);
  ExpectProblemAt(result, What::kUnwritten, site);
}

TEST_P(RunCaseTest, BackendThatWritesNothingLeavesEveryElementUnwritten) {
  const CaseResult result = Run([](const Case&, const TensorMap& before, TensorMap& outputs, int) {
    outputs = before;
    return Fine();
  });
  ExpectCounts(result, 0, static_cast<std::int64_t>(sites_.size()), 0, 0);
}

TEST_P(RunCaseTest, ByteThatMustNotChangeIsTouched) {
  const auto [buffer, offset] = UnwrittenByte(case_);
  const CaseResult result =
      Run([&, b = buffer, o = offset](const Case&, const TensorMap&, TensorMap& outputs, int run) {
        if (run == 0) outputs.at(b).bytes()[o] ^= 1;
        return Fine();
      });
  ExpectCounts(result, 0, 0, 1, 0);
  ASSERT_EQ(result.verdict.problems.size(), 1U);
  EXPECT_EQ(result.verdict.problems[0].what, What::kTouched);
  EXPECT_EQ(result.verdict.problems[0].buffer, buffer);
  EXPECT_EQ(result.verdict.problems[0].byte_offset, offset);
}

// A constant that happens to be there already in the first run shows in the second.
TEST_P(RunCaseTest, ByteTouchedInTheSecondRunCounts) {
  const auto [buffer, offset] = UnwrittenByte(case_);
  const CaseResult result =
      Run([&, b = buffer, o = offset](const Case&, const TensorMap&, TensorMap& outputs, int run) {
        if (run == 1) outputs.at(b).bytes()[o] ^= 0x40;
        return Fine();
      });
  ExpectCounts(result, 0, 0, 1, 0);
}

TEST_P(RunCaseTest, ByteTouchedInTheReorderedRunCounts) {
  const std::string buffer = case_.outputs_before.begin()->first;
  const CaseResult result = Run([&](const Case&, const TensorMap&, TensorMap& outputs, int run) {
    Tensor& tensor = outputs.at(buffer);
    // The second launch has the inert tail, or the cache's last page.
    if (run == 3) tensor.bytes()[tensor.size_bytes() - 1] ^= 2;
    return Fine();
  });
  ExpectCounts(result, 0, 0, 1, 0);
}

TEST_P(RunCaseTest, InputThatWasWrittenToIsTouched) {
  const CaseResult result = Run([](const Case&, const TensorMap&, TensorMap&, int) {
    RunOutcome outcome;
    outcome.written_inputs = {"positions"};
    return outcome;
  });
  ExpectCounts(result, 0, 0, 1, 0);
  EXPECT_EQ(result.verdict.problems.at(0).buffer, "positions");
}

TEST_P(RunCaseTest, ElementThatDiffersInTheSecondRunIsUnstable) {
  const ElementSite site = sites_.front();
  const CaseResult result = Run([&](const Case&, const TensorMap&, TensorMap& outputs, int run) {
    if (run == 1) FlipTopBit(site, outputs);
    return Fine();
  });
  ExpectCounts(result, 0, 0, 0, 1);
  EXPECT_EQ(result.unstable[static_cast<std::size_t>(site.kind)], 1);
  ExpectProblemAt(result, What::kUnstable, site);
}

TEST_P(RunCaseTest, ElementThatIsWrongAndByChanceWhatTheFillHeldIsWrong) {
  const ElementSite site = sites_.front();
  std::optional<TensorMap> first;  // what the first run's buffers held
  const CaseResult result = Run([&](const Case&, const TensorMap& before, TensorMap& outputs, int run) {
    if (run == 0) first = before;
    if (run < 2) Restore(site, *first, outputs);
    return Fine();
  });
  ExpectCounts(result, 1, 0, 0, 1);  // the reordered launches store the right value
  EXPECT_EQ(result.verdict.problems.front().what, What::kWrong);
}

TEST_P(RunCaseTest, ElementThatIsWrittenInOneRunOnlyIsNotCountedTwice) {
  const ElementSite site = sites_.front();
  const CaseResult result = Run([&](const Case&, const TensorMap& before, TensorMap& outputs, int run) {
    if (run == 0) Restore(site, before, outputs);
    return Fine();
  });
  ExpectCounts(result, 0, 1, 0, 1);
  EXPECT_EQ(result.verdict.total().elements(), static_cast<std::int64_t>(sites_.size()));
}

// A kernel whose values depend on where the token stands in the launch.
TEST_P(RunCaseTest, ElementThatDependsOnTheOrderOfTheTokensIsUnstable) {
  const CaseResult result = Run([](const Case& c, const TensorMap&, TensorMap& outputs, int run) {
    if (run >= 2) {
      const std::vector<ElementSite> sites = SitesOf(c);
      if (!sites.empty()) FlipTopBit(sites.front(), outputs);
    }
    return Fine();
  });
  EXPECT_EQ(result.verdict.total().wrong + result.verdict.total().unwritten + result.verdict.touched, 0);
  EXPECT_GE(result.unstable_elements(), 1);
  EXPECT_LE(result.unstable_elements(), 2);
}

TEST_P(RunCaseTest, ExceptionIsAnErrorOfTheSubject) {
  const CaseResult result = Run(
      [](const Case&, const TensorMap&, TensorMap&, int) -> RunOutcome { throw std::runtime_error("out of order"); });
  EXPECT_EQ(result.status, CaseStatus::kError);
  EXPECT_EQ(result.message, "threw an exception: out of order");
  EXPECT_FALSE(result.right());
  EXPECT_EQ(result.verdict.total().elements(), 0);
}

TEST_P(RunCaseTest, OutcomesThatAreNotOkEndTheCase) {
  struct Row {
    RunStatus status;
    CaseStatus expected;
    bool right;
  };
  for (const Row& row :
       {Row{RunStatus::kError, CaseStatus::kError, false}, Row{RunStatus::kCrashed, CaseStatus::kCrashed, false},
        Row{RunStatus::kUnsupported, CaseStatus::kUnsupported, true}}) {
    PlantedBackend backend([&](const Case&, const TensorMap&, TensorMap&, int) {
      return RunOutcome{row.status, "for a reason"};
    });
    const CaseResult result = RunCase(backend, case_, {});
    EXPECT_EQ(result.status, row.expected);
    EXPECT_EQ(result.message, "for a reason");
    EXPECT_EQ(result.right(), row.right);
    EXPECT_EQ(backend.runs(), 1);
  }
}

TEST_P(RunCaseTest, ErrorInALaterRunSaysWhichOne) {
  const auto message = [&](int failing) {
    return Run([&](const Case&, const TensorMap&, TensorMap&, int run) {
             return run == failing ? RunOutcome{RunStatus::kError, "no"} : Fine();
           })
        .message;
  };
  EXPECT_EQ(message(1), "in a second run: no");
  EXPECT_EQ(message(3), "with the tokens in another order and two launches: no");
}

TEST_P(RunCaseTest, ClaimToEqualTheModelIsHeldToIt) {
  const std::unique_ptr<Backend> host = OpenBackend("host");
  TensorMap honest = case_.outputs_before;
  host->Run(case_, honest);
  PlantedBackend backend([&](const Case& c, const TensorMap&, TensorMap& outputs, int) {
    host->Run(c, outputs);
    return Fine();
  });
  const CaseResult without = RunCase(backend, case_, {});
  backend.info().bit_exact = true;
  const CaseResult with = RunCase(backend, case_, {});
  EXPECT_EQ(with.verdict.total().wrong, without.verdict.total().allowed);
  EXPECT_EQ(with.verdict.total().allowed, 0);
  EXPECT_EQ(with.right(), without.verdict.total().allowed == 0);
  EXPECT_EQ(with.verdict.problems.empty(), with.right());
  // The unrounded values of an honest port differ from the model's.
  if (case_.op == spec::Operation::kGatherSplit) {
    EXPECT_FALSE(with.right());
  }
}

TEST_P(RunCaseTest, DifferingElementsAreCountedByKindAndTheOtherZeroIsNone) {
  const CaseResult right = Run([](const Case&, const TensorMap&, TensorMap&, int) { return Fine(); });
  EXPECT_EQ(right.differing, (std::array<std::int64_t, kElementKinds>{}));
  std::map<ElementKind, ElementSite> last;
  for (const ElementSite& site : sites_) last[site.kind] = site;
  TensorMap strict = case_.outputs_before;
  MakeReferenceBackend()->Run(case_, strict);
  for (const auto& [kind, site] : last) {
    const CaseResult result = Run([&site = site](const Case&, const TensorMap&, TensorMap& outputs, int run) {
      if (run < 2) FlipTopBit(site, outputs);
      return Fine();
    });
    const std::uint32_t sign = std::uint32_t{1} << (site.shift < 0 ? 8 * site.bytes - 1 : 3);
    const bool zero = kind != ElementKind::kScale && (site.Load(strict) & ~sign) == 0;
    std::array<std::int64_t, kElementKinds> expected{};
    expected[static_cast<std::size_t>(kind)] = zero ? 0 : 1;
    EXPECT_EQ(result.differing, expected) << NameOf(kind);
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, RunCaseTest, testing::ValuesIn(SmallSpecs()),
                         [](const auto& spec) { return std::string(spec.param.name); });

// Tokens that the policy leaves open.
class OpenTokenTest : public testing::Test {
 protected:
  OpenTokenTest() { options_.policy = FindPolicy("poisoned"); }

  static ElementSite FirstOf(const Case& c, std::int64_t token) {
    for (const ElementSite& site : SitesOf(c)) {
      if (site.token == token) return site;
    }
    ADD_FAILURE();
    return {};
  }

  // Of a case with one NaN, the token that reads it.
  std::int64_t OpenToken() {
    const std::unique_ptr<Backend> reference = MakeReferenceBackend();
    const CaseResult result = RunCase(*reference, case_, options_);
    EXPECT_TRUE(result.right());
    EXPECT_GT(result.verdict.total().unjudged, 0);
    return result.verdict.open.at(0).token;
  }

  const Case case_ = Generate(ParseSpec("op=indexer_fp8 ratio=2 requests=0+6 special=nan"));
  JudgeOptions options_;
};

TEST_F(OpenTokenTest, ValuesMayBeAnything) {
  const ElementSite site = FirstOf(case_, OpenToken());
  PlantedBackend backend([&](const Case& c, const TensorMap&, TensorMap& outputs, int run) {
    if (c.params.num_actual == case_.params.num_actual) {
      outputs.at(site.buffer).bytes()[site.byte_offset] = static_cast<std::uint8_t>(0x11 + run);
    }
    return Fine();
  });
  EXPECT_TRUE(RunCase(backend, case_, options_).right());
}

TEST_F(OpenTokenTest, ElementsMustBeWritten) {
  const ElementSite site = FirstOf(case_, OpenToken());
  PlantedBackend backend([&](const Case& c, const TensorMap& before, TensorMap& outputs, int) {
    if (c.params.num_actual == case_.params.num_actual) Restore(site, before, outputs);
    return Fine();
  });
  const CaseResult result = RunCase(backend, case_, options_);
  EXPECT_FALSE(result.right());
  EXPECT_EQ(result.verdict.total().unwritten, 1);
  ASSERT_EQ(result.verdict.problems.size(), 1U);
  EXPECT_EQ(result.verdict.problems[0].what, What::kUnwritten);
  EXPECT_EQ(result.verdict.problems[0].element, site.element);
}

// Where the sum of squares straddles 2^128 nearly anything is allowed, the poison sometimes too; what kept it in both
// runs is unwritten all the same.
TEST(RunCase, ElementsWhosePoisonIsAllowedAreUnwrittenToo) {
  std::int64_t written = 0;
  for (int seed = 1; seed <= 40; ++seed) {
    const Case c =
        Generate(ParseSpec("op=indexer_fp8 ratio=2 requests=0+16 values=overflow seed=" + std::to_string(seed)));
    PlantedBackend backend([](const Case&, const TensorMap& before, TensorMap& outputs, int) {
      outputs = before;
      return Fine();
    });
    const Tally total = RunCase(backend, c, {}).verdict.total();
    EXPECT_EQ(total.unwritten, total.elements()) << c.name;
    written += total.elements();
  }
  EXPECT_GT(written, 1000);
}

TEST(RunCase, FillsDependOnNothingButTheCase) {
  const Case c = SmallCase(SmallSpecs().front());
  const auto fills = [&] {
    std::vector<TensorMap> seen;
    PlantedBackend backend([&](const Case&, const TensorMap& before, TensorMap&, int) {
      seen.push_back(before);
      return Fine();
    });
    RunCase(backend, c, {});
    return seen;
  };
  EXPECT_EQ(fills(), fills());
}

TEST(RunCase, OneTokenRunsWithoutReordering) {
  const Case c = Generate(ParseSpec("op=indexer_q_mxfp4 heads=2 requests=3+1"));
  PlantedBackend backend([](const Case&, const TensorMap&, TensorMap&, int) { return Fine(); });
  EXPECT_TRUE(RunCase(backend, c, {}).right());
  EXPECT_EQ(backend.runs(), 2);
}

TEST(JudgeRecorded, JudgesWhatTheFileHolds) {
  Case c = SmallCase(SmallSpecs().front());
  c.outputs_after = c.outputs_before;
  MakeReferenceBackend()->Run(c, *c.outputs_after);
  EXPECT_TRUE(JudgeRecorded(c, {}).right());
  FlipTopBit(SitesOf(c).front(), *c.outputs_after);
  const CaseResult result = JudgeRecorded(c, {});
  EXPECT_EQ(result.verdict.total().wrong, 1);
  EXPECT_EQ(result.differing[static_cast<std::size_t>(SitesOf(c).front().kind)], 1);
  ASSERT_NE(result.evidence, nullptr);
  EXPECT_EQ(result.evidence->after, *c.outputs_after);
}

}  // namespace
}  // namespace kvexact
