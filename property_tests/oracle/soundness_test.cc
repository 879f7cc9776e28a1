// SPDX-License-Identifier: Apache-2.0
// No fp32 evaluation within a budget leaves its enclosure, and no stored output its allowed set; the
// strict model and the real numbers lie inside too. KVEXACT_SOUNDNESS_TOKENS (default 40) tokens a
// budget from seed KVEXACT_SOUNDNESS_SEED (default 1), KVEXACT_SOUNDNESS_PERTURBATIONS (default 8) drawn
// evaluations a token besides the adversarial ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "harness/generate/draw.h"
#include "harness/generate/generate.h"
#include "harness/judge/judge.h"
#include "property_tests/oracle/enclosed_stages.h"
#include "property_tests/oracle/fill_report.h"
#include "property_tests/oracle/hostile_cases.h"
#include "property_tests/oracle/perturbed_evaluator.h"
#include "property_tests/oracle/store_outputs.h"
#include "property_tests/oracle/wide_oracle.h"

namespace kvexact::oracle {
namespace {

std::int64_t Setting(const char* name, std::int64_t standard) {
  const char* text = std::getenv(name);
  return text == nullptr ? standard : std::strtoll(text, nullptr, 10);
}

Limits LimitsOf(const Budget& budget) {
  Limits limits;
  limits.exp_ulp = budget.exp_ulp;
  limits.divide_ulp = budget.divide_ulp;
  limits.rsqrt_ulp = budget.rsqrt_ulp;
  limits.row_height = budget.row_tree_height;
  limits.head_height = budget.head_tree_height;
  limits.scaled_terms = budget.argument == ExpArgument::kScaledTerms;
  limits.rescalings = budget.rescalings;
  limits.flush = budget.flush;
  return limits;
}

enum Stage { kColumns, kSumSquares, kRrms, kNormed, kRotated, kStages };
constexpr const char* kStageNames[] = {"columns", "sum of squares", "rrms", "normed", "rotated"};

// One token of a case: its witnesses, and how far evaluations of it have strayed.
class TokenWitness {
 public:
  TokenWitness(const Case& c, const CompressInputs& in, std::int64_t index_in_case, const Budget& budget)
      : token(GatherToken(c, index_in_case)),
        evaluator(token),
        index(index_in_case),
        enclosed_(Enclose(in, index_in_case, budget)),
        fill_(kStages, std::vector<double>(enclosed_.columns.size(), -1.0)) {}

  // Failures beyond the first few of a token say nothing new.
  template <class Stages>
  void Expect(const Stages& value, const std::string& who) {
    if (token.rows > 0) ExpectRow(kColumns, enclosed_.columns, value.columns, who);  // finalize is given them
    if (token.norm_weight.empty()) return;
    ExpectOne(kSumSquares, 0, enclosed_.sum_squares, Held(value.sum_squares), who);
    ExpectOne(kRrms, 0, enclosed_.rrms, value.rrms, who);
    ExpectRow(kNormed, enclosed_.normed, value.normed, who);
    ExpectRow(kRotated, enclosed_.rotated, value.rotated, who);
  }

  // Adds, for each column and stage, the largest fill that any evaluation reached.
  void Report(std::array<FillReport, kStages>& reports) const {
    for (std::size_t stage = 0; stage < kStages; ++stage) {
      for (const double fill : fill_[stage]) {
        if (fill >= 0) reports[stage].Add(fill);
      }
    }
  }

  int failures() const { return failures_; }

  const CompressToken token;
  PerturbedEvaluator evaluator;
  const std::int64_t index;

 private:
  // What fp32 holds of a sum of squares.
  static float Held(float x) { return x; }
  static Wide Held(const Wide& x) { return Saturated(x); }

  template <class Value>
  void ExpectRow(Stage stage, const std::vector<EnclosedValue>& enclosed, const std::vector<Value>& values,
                 const std::string& who) {
    ASSERT_EQ(enclosed.size(), values.size());
    for (std::size_t d = 0; d < values.size(); ++d) ExpectOne(stage, d, enclosed[d], values[d], who);
  }

  void ExpectOne(Stage stage, std::size_t d, const EnclosedValue& e, float x, const std::string& who) {
    if (!Holds(e, x)) Fail(stage, d, e, std::to_string(x), static_cast<double>(x), who);
    if (e.classes == kFinite && e.rad > 0 && std::isfinite(x)) {
      double& fill = fill_[stage][d];
      fill = std::max(fill, std::fabs(static_cast<double>(x) - e.mid) / e.rad);
    }
  }

  void ExpectOne(Stage stage, std::size_t d, const EnclosedValue& e, const Wide& x, const std::string& who) {
    if (!Holds(e, x)) Fail(stage, d, e, ToString(x), x.ToDouble(), who);
  }

  void Fail(Stage stage, std::size_t d, const EnclosedValue& e, const std::string& value, double x,
            const std::string& who) {
    if (++failures_ > 3) return;
    ADD_FAILURE() << "token " << index << ", " << kStageNames[stage] << " column " << d << ": " << value
                  << " lies outside " << ToString(e) << " by a factor of " << std::fabs(x - e.mid) / e.rad << "; "
                  << spec::row(token.op).name << " rows " << token.rows << "; " << who;
  }

  EnclosedStages enclosed_;
  std::vector<std::vector<double>> fill_;
  int failures_ = 0;
};

std::string Explain(const CaseVerdict& verdict) {
  std::string text;
  for (std::size_t i = 0; i < verdict.problems.size() && i < 3; ++i) {
    const Problem& p = verdict.problems[i];
    text += "\n  " + std::string(NameOf(p.kind)) + " " + std::to_string(p.element) + " of token " +
            std::to_string(p.token) + ": stored " + p.observed + ", strict " + p.expected + ", allowed " + p.allowed;
  }
  return text;
}

// Stores a token's values as the kernels would.
void Write(const Case& c, std::int64_t index, const CompressToken& token, const PerturbedToken& value,
           TensorMap& outputs) {
  if (token.norm_weight.empty()) {
    WriteScratch(index, value.columns, outputs);
  } else {
    WriteToken(c, token, StorePerturbed(token, value), outputs);
  }
}

// Three hostile cases, then one of the harness's own generator.
Case DrawCase(std::uint64_t seed) {
  if (seed % 4 != 3) return HostileCompressCase(seed);
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) {
    if (row.family == spec::Family::kCompress) settings.operations.push_back(row.id);
  }
  settings.seed = seed >> 32;
  return Generate(Draw(settings, seed & 0xFFFFFFFFU));
}

// Tokens of one case that are perturbed; a generated launch may have many.
constexpr std::size_t kMostTokens = 6;

class Soundness : public testing::TestWithParam<const Budget*> {};

TEST_P(Soundness, CompressionStaysInsideItsSets) {
  const Budget& budget = *GetParam();
  const Limits limits = LimitsOf(budget);
  const std::int64_t wanted = Setting("KVEXACT_SOUNDNESS_TOKENS", 40);
  const std::int64_t drawn = Setting("KVEXACT_SOUNDNESS_PERTURBATIONS", 8);
  auto seed = static_cast<std::uint64_t>(Setting("KVEXACT_SOUNDNESS_SEED", 1)) << 32;
  JudgeOptions options;
  options.budget = &budget;

  std::array<FillReport, kStages> reports;
  std::array<std::int64_t, 5> classes{};
  std::int64_t tokens = 0;
  std::int64_t evaluations = 0;
  std::int64_t judged = 0;
  std::int64_t left_out = 0;
  int failed_cases = 0;
  for (; tokens < wanted && failed_cases < 5; ++seed) {
    const Case c = DrawCase(seed);
    Check(c);
    SCOPED_TRACE(c.name + " ratio " + std::to_string(c.params.compress_ratio));
    const CompressBinding binding(c);
    std::vector<std::unique_ptr<TokenWitness>> live;
    // The strict model's values stand in for the tokens that are not perturbed.
    TensorMap base = c.outputs_before;
    for (std::int64_t t = 0; t < c.params.num_actual; ++t) {
      if (ExitOf(c, t) != Exit::kNone) continue;
      auto witness = std::make_unique<TokenWitness>(c, binding.inputs(), t, budget);
      const PerturbedToken strict = EvaluateStrict(binding.inputs(), t);
      witness->Expect(strict, "the strict model");
      if (live.size() == kMostTokens) {
        ++left_out;
        Write(c, t, witness->token, strict, base);
        continue;
      }
      const WideToken wide = EvaluateWide(witness->token);
      ++classes[static_cast<std::size_t>(wide.cls)];
      // An infinite KV under a weight that may be lost has no one value.
      if (wide.cls != TokenClass::kUnspecified) witness->Expect(wide, "the wide oracle");
      live.push_back(std::move(witness));
    }
    tokens += static_cast<std::int64_t>(live.size());

    std::vector<Perturbation> perturbations = CornerPerturbations(seed, limits);
    for (std::int64_t i = 0; i < drawn; ++i) {
      perturbations.push_back(DrawPerturbation(seed * 1000 + static_cast<std::uint64_t>(i), limits));
    }
    bool sound = true;
    // Windows of 64 rows and more take a share of the evaluations, another one each time.
    const std::size_t share = c.params.compress_ratio >= 64 ? 4 : 1;
    for (std::size_t i = seed % share; i < perturbations.size(); i += share) {
      const Perturbation& p = perturbations[i];
      TensorMap after = base;
      for (const auto& witness : live) {
        const PerturbedToken value = witness->evaluator.Evaluate(p);
        ++evaluations;
        witness->Expect(value, Describe(p));
        Write(c, witness->index, witness->token, value, after);
      }
      // The judge encloses every token anew; it sees one evaluation in three.
      if ((seed + i / share) % 3 == 0) {
        const CaseVerdict verdict = Judge(c, options, c.outputs_before, after);
        EXPECT_TRUE(verdict.right()) << Describe(p) << " touched " << verdict.touched << Explain(verdict);
        sound = verdict.right();
        judged += static_cast<std::int64_t>(live.size());
      }
      for (const auto& witness : live) sound = sound && witness->failures() == 0;
      if (!sound) break;
    }
    for (const auto& witness : live) witness->Report(reports);
    if (!sound) ++failed_cases;
  }

  std::cout << "budget " << budget.name << ": " << tokens << " tokens (finite " << classes[0] << ", norm overflow "
            << classes[1] << ", infinite KV " << classes[2] << ", NaN " << classes[3] << ", open " << classes[4]
            << "), " << evaluations << " evaluations, " << judged << " of them judged, " << left_out
            << " tokens left out\n";
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    std::cout << "  fill of " << kStageNames[stage] << ": " << reports[stage].Text() << '\n';
    RecordProperty(std::string("largest_fill_") + std::to_string(stage), std::to_string(reports[stage].largest()));
  }
  EXPECT_GE(tokens, wanted);
  EXPECT_GT(judged, 0);
  EXPECT_GT(reports[kRotated].count(), 0);
  // A bound that no perturbation comes near would make this test prove little.
  EXPECT_GT(reports[kColumns].largest(), 0.5);
}

TEST_P(Soundness, IndexerQStaysInsideItsSets) {
  const Budget& budget = *GetParam();
  const Limits limits = LimitsOf(budget);
  const std::int64_t wanted = Setting("KVEXACT_SOUNDNESS_TOKENS", 40);
  const std::int64_t drawn = Setting("KVEXACT_SOUNDNESS_PERTURBATIONS", 8);
  auto seed = static_cast<std::uint64_t>(Setting("KVEXACT_SOUNDNESS_SEED", 1)) << 32;
  JudgeOptions options;
  options.budget = &budget;
  std::int64_t heads = 0;
  for (; heads < wanted && !testing::Test::HasFailure(); ++seed) {
    const Case c = HostileQCase(seed);
    Check(c);
    SCOPED_TRACE(c.name);
    const std::int64_t heads_a_token = c.inputs.at("index_q").dim(1);
    for (std::int64_t i = -1; i < drawn; ++i) {
      // Round -1 stores what the wide oracle rounds to.
      const Perturbation p = DrawPerturbation(seed * 1000 + static_cast<std::uint64_t>(i + 1), limits);
      TensorMap after = c.outputs_before;
      for (std::int64_t t = 0; t < c.params.num_actual; ++t) {
        for (std::int64_t h = 0; h < heads_a_token; ++h) {
          const QHead q = GatherQHead(c, t, h);
          PerturbedQ value = EvaluateQ(q, p);
          if (i < 0) {
            const WideQ wide = EvaluateWide(q);
            value.stored = wide.stored;
            // A product rounded once need not be one of fp32 factors in turn, but must be near.
            FoldWeight(q, p, value);
            if (std::fabs(wide.weight_fp32) > 0x1p-20F && std::fabs(wide.weight_fp32) < 0x1p20F &&
                p.flush == Flush::kNone) {
              EXPECT_NEAR(value.weight / wide.weight_fp32, 1, 0x1p-22);
            }
          }
          WriteQHead(q, value, t, h, after);
        }
      }
      const CaseVerdict verdict = Judge(c, options, c.outputs_before, after);
      EXPECT_TRUE(verdict.right()) << (i < 0 ? "the wide oracle" : Describe(p)) << " touched " << verdict.touched
                                   << Explain(verdict);
    }
    heads += c.params.num_actual * heads_a_token;
  }
  EXPECT_GE(heads, wanted);
}

// The sets are not so wide that they hold anything: errors of a few ulp more than the budget's leave them.
TEST(SoundnessItself, ErrorsBeyondTheBudgetAreSeen) {
  struct Row {
    const char* name;
    Limits limits;
  };
  const Row rows[] = {{"exp of 8 ulp", {.exp_ulp = 8}},
                      {"division of 8 ulp", {.divide_ulp = 8}},
                      {"rsqrt of 64 ulp", {.rsqrt_ulp = 64}}};
  const Case c = PlainCase(23, spec::Operation::kIndexerFp8, 4, true, 4);
  Check(c);
  const CompressBinding binding(c);
  for (const Row& row : rows) {
    int outside = 0;
    int inside = 0;
    for (std::int64_t t = 0; t < c.params.num_actual; ++t) {
      const CompressToken token = GatherToken(c, t);
      const EnclosedStages enclosed = Enclose(binding.inputs(), t, DefaultBudget());
      PerturbedEvaluator evaluator(token);
      for (const Perturbation& p : CornerPerturbations(1, row.limits)) {
        const PerturbedToken value = evaluator.Evaluate(p);
        for (std::size_t d = 0; d < value.normed.size(); ++d) {
          const bool held = Holds(enclosed.columns[d], value.columns[d]) && Holds(enclosed.normed[d], value.normed[d]);
          ++(held ? inside : outside);
        }
      }
    }
    EXPECT_GT(outside, 0) << row.name << ", inside " << inside;
  }
}

std::vector<const Budget*> AllBudgets() {
  std::vector<const Budget*> all;
  for (const Budget& budget : Budgets()) all.push_back(&budget);
  return all;
}

std::string NameOfBudget(const testing::TestParamInfo<const Budget*>& tested) {
  std::string name = tested.param->name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Budgets, Soundness, testing::ValuesIn(AllBudgets()), NameOfBudget);

}  // namespace
}  // namespace kvexact::oracle
