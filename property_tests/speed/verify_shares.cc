// SPDX-License-Identifier: Apache-2.0
// verify_shares BACKEND [CASES] [SEED]: the default run of `verify` on one core, and the share of its time that each
// step takes. Exits 1 if a case is not right.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>

#include "harness/backend/backend.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"
#include "harness/run/run_case.h"

namespace kvexact {
namespace {

enum Step { kGenerate, kPrepare, kRun, kJudge, kSteps };
constexpr const char* kNames[kSteps] = {"generate the case", "model's bytes, poison, reordering", "run it three times",
                                        "judge and compare"};

class Stopwatch {
 public:
  // Adds the time since the last call to the step.
  void Add(Step step) {
    const auto now = Clock::now();
    seconds_[step] += std::chrono::duration<double>(now - last_).count();
    last_ = now;
  }
  double seconds(int step) const { return seconds_[static_cast<std::size_t>(step)]; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
  std::array<double, kSteps> seconds_{};
};

int Measure(const std::string& name, std::int64_t cases, std::uint64_t seed) {
  const auto backend = OpenBackend(name);
  DrawSettings settings;
  settings.seed = seed;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  std::int64_t wrong = 0;
  Stopwatch watch;
  for (std::int64_t i = 0; i < cases; ++i) {
    const Case c = Generate(Draw(settings, static_cast<std::uint64_t>(i)));
    watch.Add(kGenerate);
    CaseTrial trial(c, SeedStages());
    watch.Add(kPrepare);
    trial.Run(*backend);
    watch.Add(kRun);
    wrong += trial.Judge({}).right() ? 0 : 1;
    watch.Add(kJudge);
  }
  double total = 0;
  for (int s = 0; s < kSteps; ++s) total += watch.seconds(s);
  fmt::print("{} cases, {} not right, {:.0f} a second on one core\n", cases, wrong, static_cast<double>(cases) / total);
  for (int s = 0; s < kSteps; ++s) fmt::print("{:5.1f} % {}\n", 100 * watch.seconds(s) / total, kNames[s]);
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kvexact

int main(int argc, char** argv) {
  const std::int64_t cases = argc > 2 ? std::atoll(argv[2]) : 2000;
  if (argc < 2 || cases < 1) {
    fmt::print(stderr, "usage: verify_shares BACKEND [CASES] [SEED]\n");
    return 2;
  }
  try {
    return kvexact::Measure(argv[1], cases, argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  } catch (const kvexact::InputError& error) {
    fmt::print(stderr, "verify_shares: {}\n", error.what());
    return 2;
  }
}
