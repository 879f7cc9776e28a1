// SPDX-License-Identifier: Apache-2.0
// A library with the C interface, replayed on a workload.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/bench/clocks.h"
#include "harness/bench/device.h"
#include "harness/bench/paired_rounds.h"
#include "harness/bench/workload.h"

namespace kvexact::worker {
class LoadedLibrary;
}

namespace kvexact::bench {

// A loaded library that takes tensors in CUDA memory. A process may load several.
class Subject {
 public:
  // Throws InputError.
  explicit Subject(const std::string& path);
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  ~Subject();

  std::string name() const;
  std::string version() const;
  // Why the library does not serve this; empty: it does.
  std::string Unsupported(DeviceLaunch& launch) const;
  // Throws std::runtime_error with the library's words.
  void Run(DeviceLaunch& launch, cudaStream_t stream) const;

 private:
  std::string path_;
  std::unique_ptr<worker::LoadedLibrary> library_;
};

// The launches of a workload as graphs, one an input set.
class Replays {
 public:
  // Runs each launch once outside of a graph first, so that the library may set itself up. `more` is enqueued behind
  // each launch.
  Replays(
      const Subject& subject, Workload& workload, Device& device, const Enqueue& more = [](cudaStream_t) {});
  double Time(Device& device, int round) const {
    return device.Replay(graphs_[static_cast<std::size_t>(round % kInputSets)]);
  }

 private:
  std::vector<Graph> graphs_;
};

// Microseconds of `rounds` replays, behind a fifth as many that are not counted.
std::vector<double> TimeRounds(const Replays& replays, int rounds, Device& device);

// The same of two in turn; which goes first alternates. `clocks_seen` gets the clocks on the way.
PairedRounds TimePairs(const std::string& workload, const Replays& a, const Replays& b, int rounds, Device& device,
                       const Clocks& clocks, ClockRecord& clocks_seen);

}  // namespace kvexact::bench
