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
#include "harness/report/bench_page.h"
#include "harness/report/bench_report.h"
#include "harness/report/utc_now.h"

namespace kvexact::cli {
namespace {

struct BenchArguments {
  std::string backend = "cuda";
  std::string against;
  std::string peers;
  std::string baseline;
  std::string filter;
  ReportFiles files;
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
  if (!path.empty()) ReplaceFile(path, text);
}

// Times as `kvexact bench --json` would hold them.
BenchSeries SeriesOf(const std::string& name, const bench::BenchResult& result) {
  BenchSeries series{name, {}};
  series.times.limits = result.description.limits;
  series.times.device = result.description.device;
  for (const bench::Measurement& m : result.measurements) {
    if (m.unsupported.empty()) series.times.rows.push_back({m.row.kernel, m.row.mode, m.row.tokens, m.us});
  }
  return series;
}

void WriteFiles(const BenchArguments& a, const bench::BenchResult& result, const bench::Peers& peers,
                const std::string& text) {
  const std::string& name = result.description.backend;
  Write(a.files.json, MeasurementJson(result.description, result.measurements));
  Write(a.files.junit, BenchJunit(result.measurements, UtcNow()));
  Write(a.files.markdown, BenchMarkdown(name + " on " + result.description.device, text));
  if (a.files.html.empty()) return;
  std::vector<BenchSeries> series = {SeriesOf(name, result)};
  if (!peers.rows.empty()) series.push_back({a.peers, peers});
  Write(a.files.html, BenchHtml(series));
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
  const std::string text = MeasurementText(result.description, result.measurements, peers);
  std::printf("%s", text.c_str());
  const bool any = std::any_of(result.measurements.begin(), result.measurements.end(),
                               [](const bench::Measurement& m) { return m.unsupported.empty(); });
  if (any) WriteFiles(a, result, peers, text);
  return any ? kRight : kNothingJudged;
}

int CompareTwo(const BenchArguments& a, const bench::BenchSettings& settings) {
  const std::string against = LibraryOf("--against", a.against);
  const auto comparisons = bench::Compare(against, LibraryOf("--backend", a.backend), settings);
  const std::string text = ComparisonText(comparisons);
  std::printf("%s", text.c_str());
  Write(a.files.json, ComparisonJson(comparisons));
  Write(a.files.junit, BenchJunit(comparisons, UtcNow()));
  Write(a.files.markdown, BenchMarkdown(a.backend + " against " + a.against, text));
  Write(a.files.html, ComparisonHtml(comparisons));
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
  a->files.AddTo(*command);
  command->add_flag("--list", a->list, "print the workloads' names and time nothing");
  command->add_flag("--quiet", a->quiet, "no progress on standard error");
  return {command, [a] { return Bench(*a); }};
}

}  // namespace kvexact::cli
