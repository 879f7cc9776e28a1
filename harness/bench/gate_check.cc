// SPDX-License-Identifier: Apache-2.0
// Whether the gate can be trusted on this machine. Compares a library with itself COMPARISONS times on every workload:
// nothing may be called slower. Then makes one side a twentieth slower, by a kernel that spins behind the launch (the
// other side's spins for no time): every workload above 20 us must be called slower.
//
// usage: kvexact_gate_check LIBRARY COMPARISONS ROUNDS [ROUNDS.jsonl]
// Exit status: 0 all as it must be; 1 not so; 2 bad usage; 3 there is no device.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <vector>

#include "harness/bench/bench.h"
#include "harness/bench/device_kernels.h"
#include "harness/bench/gate.h"
#include "harness/bench/subject.h"
#include "harness/case/input_error.h"

namespace kvexact::bench {
namespace {

constexpr double kSlowdown = 0.05;
constexpr double kLeastUs = 20;  // of workloads whose slowdown must be seen

// Cycles of the multiprocessor's clock that a spinning kernel needs to take a microsecond longer.
double CyclesAMicrosecond(Device& device) {
  constexpr std::int64_t kCycles = 100'000;
  const auto time = [&](std::int64_t cycles) {
    const Graph graph([&](cudaStream_t stream) { EnqueueSpin(cycles, stream); }, device.stream());
    constexpr int kRounds = 21;
    std::vector<double> times;
    times.reserve(kRounds);
    for (int i = 0; i < kRounds; ++i) times.push_back(device.Replay(graph));
    return Median(times);
  };
  return static_cast<double>(kCycles) / (time(2 * kCycles) - time(kCycles));
}

class Check {
 public:
  Check(const std::string& library, int comparisons, int rounds, const char* file)
      : subject_(library), comparisons_(comparisons), rounds_(rounds) {
    if (file != nullptr) file_.open(file);
    cycles_a_microsecond_ = CyclesAMicrosecond(device_);
  }

  bool Run() {
    bool right = true;
    for (const WorkloadRow& row : Workloads()) {
      Workload workload = MakeWorkload(row, pool_);
      const Replays same(subject_, workload, device_);
      const double us = Median(TimeRounds(same, rounds_, device_));
      int alarms = 0;
      int ambiguous = 0;
      for (int i = 0; i < comparisons_; ++i) {
        const Decision decision = Compare(row, same, same);
        alarms += decision == Decision::kSlower ? 1 : 0;
        ambiguous += decision == Decision::kAmbiguous ? 1 : 0;
      }
      const auto spin = [&](double more_us) {
        const auto cycles = static_cast<std::int64_t>(more_us * cycles_a_microsecond_);
        return Replays(subject_, workload, device_, [=](cudaStream_t stream) { EnqueueSpin(cycles, stream); });
      };
      constexpr double kSpin = 2;  // long enough for its end, not the kernel's start, to count
      const Decision slowed = Compare(row, spin(kSpin), spin(kSpin + kSlowdown * us));
      const bool missed = us > kLeastUs && slowed != Decision::kSlower;
      right = right && alarms == 0 && !missed;
      std::printf("%-28s %8.2f us: %d of %d comparisons with itself slower, %d ambiguous; 5 %% more: %s\n",
                  row.Name().c_str(), us, alarms, comparisons_, ambiguous, NameOf(slowed));
    }
    return right;
  }

 private:
  Decision Compare(const WorkloadRow& row, const Replays& a, const Replays& b) {
    Comparison comparison{.row = row};
    comparison.pairs = TimePairs(row.Name(), a, b, rounds_, device_, clocks_, comparison.clocks);
    if (file_.is_open()) file_ << ComparisonJson({comparison});
    return Decide(comparison.pairs).decision;
  }

  Device device_;
  Subject subject_;
  StatePool pool_;
  Clocks clocks_;
  int comparisons_;
  int rounds_;
  std::ofstream file_;
  double cycles_a_microsecond_ = 0;
};

int Main(int argc, char** argv) {
  const int comparisons = argc > 2 ? std::atoi(argv[2]) : 0;
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 0;
  if (argc < 4 || argc > 5 || comparisons < 1 || rounds < 5) {
    std::fprintf(stderr, "usage: kvexact_gate_check LIBRARY COMPARISONS ROUNDS [ROUNDS.jsonl]\n");
    return 2;
  }
  try {
    Check check(argv[1], comparisons, rounds, argc == 5 ? argv[4] : nullptr);
    return check.Run() ? 0 : 1;
  } catch (const NoDevice& e) {
    std::fprintf(stderr, "kvexact_gate_check: %s\n", e.what());
    return 3;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kvexact_gate_check: %s\n", e.what());
    return 2;
  }
}

}  // namespace
}  // namespace kvexact::bench

int main(int argc, char** argv) { return kvexact::bench::Main(argc, argv); }
