// SPDX-License-Identifier: Apache-2.0
#include "harness/run/run_cases.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "harness/case/case_file.h"
#include "harness/run/case_files.h"
#include "property_tests/run/planted_backend.h"
#include "property_tests/run/small_specs.h"

namespace kvexact {
namespace {

namespace fs = std::filesystem;

DrawSettings AllOperations(std::uint64_t seed) {
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  settings.seed = seed;
  return settings;
}

std::vector<std::string> NamesOf(const CaseSource& source) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < source.count; ++i) names.push_back(source.name(i));
  return names;
}

TEST(DrawnCases, ShardsAreDisjointAndTogetherTheWholeRun) {
  const DrawSettings settings = AllOperations(3);
  const std::vector<std::string> whole = NamesOf(DrawnCases(settings, 50, {0, 1}));
  ASSERT_EQ(whole.size(), 50U);
  for (const std::int64_t shards : {2, 3, 7, 60}) {
    std::vector<std::string> together(50);
    std::size_t count = 0;
    for (std::int64_t shard = 0; shard < shards; ++shard) {
      const std::vector<std::string> part = NamesOf(DrawnCases(settings, 50, {shard, shards}));
      for (std::size_t i = 0; i < part.size(); ++i) {
        together.at(static_cast<std::size_t>(shard) + i * static_cast<std::size_t>(shards)) = part[i];
      }
      count += part.size();
    }
    EXPECT_EQ(count, 50U);
    EXPECT_EQ(together, whole);
  }
}

TEST(DrawnCases, CaseIsNamedByItsSpec) {
  const CaseSource source = DrawnCases(AllOperations(3), 5, {});
  for (std::int64_t i = 0; i < source.count; ++i) EXPECT_EQ(source.load(i).name, source.name(i));
}

TEST(SpecCases, LineThatIsNoSpecIsRefused) { EXPECT_THROW(SpecCases({"op=sparse_attn", "op=frobnicate"}), InputError); }

class DirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / ("kvexact_run_" + std::to_string(::getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string Write(const std::string& name, bool recorded) {
    Case c = SmallCase(SmallSpecs().front());
    if (recorded) {
      c.outputs_after = c.outputs_before;
      MakeReferenceBackend()->Run(c, *c.outputs_after);
    }
    const std::string path = (directory_ / name).string();
    WriteCaseFile(path, c);
    return path;
  }

  fs::path directory_;
};

TEST_F(DirectoryTest, CaseFilesOfADirectoryAreSortedAndOthersLeftOut) {
  const std::string b = Write("b.safetensors", true);
  const std::string a = Write("a.safetensors", true);
  std::ofstream(directory_ / "notes.txt") << "no case";
  EXPECT_EQ(CaseFilesOf({directory_.string()}), (std::vector<std::string>{a, b}));
  EXPECT_EQ(CaseFilesOf({b, directory_.string()}), (std::vector<std::string>{b, a, b}));
  EXPECT_THROW(CaseFilesOf({(directory_ / "missing").string()}), InputError);
}

TEST_F(DirectoryTest, FileThatCannotBeJudgedDoesNotStopTheOthers) {
  const std::string good = Write("good.safetensors", true);
  const std::string bare = Write("bare.safetensors", false);
  const std::string broken = (directory_ / "broken.safetensors").string();
  std::ofstream(broken) << "not a case";
  std::vector<CaseResult> results;
  JudgeRecordings(FileCases({broken, good, bare}), {}, {}, [&](CaseResult r) { results.push_back(std::move(r)); });
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[0].status, CaseStatus::kUnreadable);
  EXPECT_EQ(results[0].message.rfind(broken + ": ", 0), 0U) << results[0].message;
  EXPECT_EQ(results[1].status, CaseStatus::kJudged);
  EXPECT_TRUE(results[1].right());
  EXPECT_EQ(results[1].name, good);
  EXPECT_EQ(results[2].status, CaseStatus::kUnreadable);
  EXPECT_EQ(results[2].message, bare + ": kv_cache_after: is missing: nothing was recorded");
}

TEST(RunCases, BadEndOfTheSubjectBelongsToTheLastCase) {
  PlantedBackend backend([](const Case&, const TensorMap&, TensorMap&, int) { return RunOutcome{}; });
  const auto run = [&] {
    std::vector<CaseResult> results;
    RunCases(backend, DrawnCases(AllOperations(9), 3, {}), {}, {}, [&](CaseResult r) { results.push_back(r); });
    return results;
  };
  for (const CaseResult& result : run()) EXPECT_TRUE(result.right()) << result.message;
  backend.end() = {RunStatus::kCrashed, "killed in destroy"};
  const std::vector<CaseResult> results = run();
  ASSERT_EQ(results.size(), 3U);
  EXPECT_TRUE(results[1].right());
  EXPECT_EQ(results[2].status, CaseStatus::kCrashed);
  EXPECT_EQ(results[2].message, "closed after its last case: killed in destroy");
}

// Counts by case, whatever the number of threads.
TEST(RunCases, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto run = [](int threads) {
    PlantedBackend backend([](const Case& c, const TensorMap&, TensorMap& outputs, int) {
      // A fault that depends on the case alone.
      if (c.params.num_actual % 2 == 1) outputs.begin()->second.bytes()[0] ^= 0x80;
      return RunOutcome{};
    });
    std::vector<std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>> rows;
    RunCases(backend, DrawnCases(AllOperations(9), 40, {}), {}, {.threads = threads, .deadline = {}},
             [&](CaseResult r) {
               const Tally total = r.verdict.total();
               rows.emplace_back(r.name, total.exact, total.wrong, r.verdict.touched, r.unstable_elements());
             });
    return rows;
  };
  const auto one = run(1);
  EXPECT_EQ(one.size(), 40U);
  EXPECT_EQ(run(3), one);
}

TEST(RunCases, NoCaseIsBegunAfterTheDeadline) {
  int results = 0;
  const std::unique_ptr<Backend> reference = MakeReferenceBackend();
  RunCases(*reference, DrawnCases(AllOperations(1), 40, {}), {},
           {.threads = 2, .deadline = std::chrono::steady_clock::now()}, [&](const CaseResult&) { ++results; });
  EXPECT_EQ(results, 0);
}

TEST(RunCases, HonestPortIsRightOnDrawnCases) {
  const std::unique_ptr<Backend> host = OpenBackend("host");
  std::int64_t judged = 0;
  RunCases(*host, DrawnCases(AllOperations(2), 96, {}), {}, {}, [&](const CaseResult& r) {
    EXPECT_TRUE(r.right()) << r.name;
    judged += r.verdict.total().judged();
  });
  EXPECT_GT(judged, 10000);
}

}  // namespace
}  // namespace kvexact
