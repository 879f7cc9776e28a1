// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/bench.h"

#include <benchmark/benchmark.h>

#include <exception>
#include <memory>

#include "harness/bench/subject.h"

namespace kvexact::bench {
namespace {

// Google Benchmark prints nothing: measurements are returned.
class Silent final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

// One workload as a benchmark whose iterations are replays.
class MeasuredWorkload {
 public:
  MeasuredWorkload(const WorkloadRow& row, const Subject& subject, const StatePool& pool, Device& device)
      : subject_(subject), pool_(pool), device_(device) {
    measurement_.row = row;
  }

  void operator()(benchmark::State& state) {
    try {
      Workload workload = MakeWorkload(measurement_.row, pool_);
      measurement_.unsupported = subject_.Unsupported(*workload.front());
      if (!measurement_.unsupported.empty()) return state.SkipWithError("unsupported");
      const Replays replays(subject_, workload, device_);
      const auto rounds = static_cast<int>(state.max_iterations);
      for (int i = 0; i < rounds / 5; ++i) replays.Time(device_, i);
      std::vector<double> times;
      for ([[maybe_unused]] const auto iteration : state) {
        times.push_back(replays.Time(device_, static_cast<int>(times.size())));
        state.SetIterationTime(times.back() * 1e-6);
      }
      measurement_.us = Median(times);
      measurement_.spread = RelativeSpread(times);
    } catch (const std::exception&) {
      failure_ = std::current_exception();
      state.SkipWithError("failed");
    }
  }

  const Measurement& measurement() const {
    if (failure_) std::rethrow_exception(failure_);
    return measurement_;
  }

 private:
  const Subject& subject_;
  const StatePool& pool_;
  Device& device_;
  Measurement measurement_;
  std::exception_ptr failure_;
};

}  // namespace

BenchResult Measure(const std::string& library, const BenchSettings& settings) {
  Device device;
  const Subject subject(library);
  const StatePool pool;
  BenchResult result;
  result.description = {subject.name(), subject.version(), device.name(), device.MeasureLimits(settings.rounds)};
  Silent silent;
  for (const WorkloadRow& row : settings.rows) {
    MeasuredWorkload workload(row, subject, pool, device);
    benchmark::RegisterBenchmark(row.Name().c_str(), [&](benchmark::State& state) { workload(state); })
        ->UseManualTime()
        ->Iterations(settings.rounds);
    benchmark::RunSpecifiedBenchmarks(&silent);
    benchmark::ClearRegisteredBenchmarks();
    result.measurements.push_back(workload.measurement());
    settings.done(row.Name(), result.measurements.back().us);
  }
  return result;
}

std::vector<Comparison> Compare(const std::string& library_a, const std::string& library_b,
                                const BenchSettings& settings) {
  Device device;
  const Subject a(library_a);
  const Subject b(library_b);
  const StatePool pool;
  const Clocks clocks;
  std::vector<Comparison> comparisons;
  for (const WorkloadRow& row : settings.rows) {
    Comparison comparison{.row = row};
    Workload workload = MakeWorkload(row, pool);
    for (const Subject* subject : {&a, &b}) {
      if (comparison.unsupported.empty()) comparison.unsupported = subject->Unsupported(*workload.front());
    }
    if (comparison.unsupported.empty()) {
      comparison.pairs = TimePairs(row.Name(), Replays(a, workload, device), Replays(b, workload, device),
                                   settings.rounds, device, clocks, comparison.clocks);
    }
    settings.done(row.Name(), comparison.unsupported.empty() ? Median(comparison.pairs.b_us) : 0);
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace kvexact::bench
