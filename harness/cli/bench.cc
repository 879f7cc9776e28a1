// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/bench.h"

#include <cstdio>
#include <memory>

#include "harness/backend/cuda_library.h"
#include "harness/bench/baseline.h"
#include "harness/bench/comparison.h"
#include "harness/case/file_io.h"
#include "harness/case/input_error.h"
#include "harness/cli/arguments.h"
#include "harness/cli/command.h"

namespace kvexact::cli {
namespace {

struct BenchArguments {
  std::string backend = "cuda";
  std::string against;
  std::string peers;
  std::string baseline;
  std::string filter;
  std::string json;
  int rounds = 0;  // 0: the default
  bool list = false;
  bool quiet = false;
};

// The library behind "cuda" or "lib:PATH".
std::string LibraryOf(const char* option, const std::string& backend) {
  constexpr std::string_view kPrefix = "lib:";
  if (backend == "cuda") return CudaLibraryPath();
  if (backend.starts_with(kPrefix)) return backend.substr(kPrefix.size());
  throw InputError(option, backend, "bench times libraries whose tensors lie in CUDA memory: cuda or lib:PATH");
}

void Write(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  ReplaceFile(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

int MeasureOne(const BenchArguments& a, const bench::BenchSettings& settings) {
  const bench::Peers peers = a.peers.empty() ? bench::Peers{} : bench::ReadPeers(a.peers);
  const std::optional<bench::Peers> baseline =
      a.baseline.empty() ? std::nullopt : std::optional(bench::ReadPeers(a.baseline));
  bench::BenchResult result = bench::Measure(LibraryOf("--backend", a.backend), settings);
  bench::Limits& limits = result.description.limits;
  if (baseline) {
    for (const std::string& line : CompareWithBaseline(result.description, result.measurements, *baseline)) {
      std::fprintf(stderr, "kvexact: warning: %s: %s\n", a.baseline.c_str(), line.c_str());
    }
  }
  limits = bench::Limits::Best(limits, peers.limits.value_or(limits));
  std::printf("%s", MeasurementText(result.description, result.measurements, peers).c_str());
  Write(a.json, MeasurementJson(result.description, result.measurements));
  const bool any = std::any_of(result.measurements.begin(), result.measurements.end(),
                               [](const bench::Measurement& m) { return m.unsupported.empty(); });
  return any ? kRight : kNothingJudged;
}

int CompareTwo(const BenchArguments& a, const bench::BenchSettings& settings) {
  const std::string against = LibraryOf("--against", a.against);
  const auto comparisons = bench::Compare(against, LibraryOf("--backend", a.backend), settings);
  std::printf("%s", ComparisonText(comparisons).c_str());
  Write(a.json, ComparisonJson(comparisons));
  switch (bench::OutcomeOf(comparisons)) {
    case bench::Outcome::kNotSlower:
      return kRight;
    case bench::Outcome::kSlower:
      return kSlower;
    case bench::Outcome::kAmbiguous:
      return kAmbiguous;
    case bench::Outcome::kNothing:
      break;
  }
  return kNothingJudged;
}

int Bench(const BenchArguments& a) {
  bench::BenchSettings settings;
  settings.rows = bench::WorkloadsMatching(a.filter);
  constexpr int kMeasured = 50;
  constexpr int kCompared = 200;  // so that the interval is narrower than the tolerance
  settings.rounds = a.rounds > 0 ? a.rounds : a.against.empty() ? kMeasured : kCompared;
  if (a.list) {
    for (const bench::WorkloadRow& row : settings.rows) std::printf("%s\n", row.Name().c_str());
    return kRight;
  }
  if (!a.quiet) {
    settings.done = [](const std::string& workload, double us) {
      std::fprintf(stderr, "%s: %.2f us\n", workload.c_str(), us);
    };
  }
  try {
    return a.against.empty() ? MeasureOne(a, settings) : CompareTwo(a, settings);
  } catch (const bench::NoDevice& e) {
    std::fprintf(stderr, "kvexact: bench: %s\n", e.what());
    return kNothingJudged;
  }
}

}  // namespace

Command AddBench(CLI::App& program) {
  const auto a = std::make_shared<BenchArguments>();
  CLI::App* command = program.add_subcommand("bench", "time a library on an NVIDIA GPU, or compare two");
  command->add_option("--backend", a->backend, "cuda, or lib:PATH")->type_name("B")->capture_default_str();
  CLI::Option* against =
      command->add_option("--against", a->against, "cuda, or lib:PATH: is B slower than this, in turns on this machine")
          ->type_name("B2");
  command
      ->add_option("--peers", a->peers,
                   "JSON lines of other implementations' times on these workloads, to stand beside")
      ->type_name("FILE")
      ->excludes(against);
  command
      ->add_option("--baseline", a->baseline,
                   "what --json wrote on another day: warns of what has become slower, and decides nothing")
      ->type_name("FILE")
      ->excludes(against);
  command->add_option("--filter", a->filter, "workloads whose name this regular expression matches")->type_name("RE");
  command->add_option("--rounds", a->rounds, "timed replays of each workload; default: 50, with --against 200")
      ->type_name("N")
      ->check(CLI::Range(5, 100000));
  command->add_option("--json", a->json, "write one JSON object a line to this file (docs/performance.md)")
      ->type_name("FILE");
  command->add_flag("--list", a->list, "print the workloads' names and time nothing");
  command->add_flag("--quiet", a->quiet, "no progress on standard error");
  return {command, [a] { return Bench(*a); }};
}

}  // namespace kvexact::cli
