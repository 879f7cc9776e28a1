// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/subject.h"

#include <stdexcept>

#include "harness/backend/worker/loaded_library.h"
#include "harness/case/input_error.h"

namespace kvexact::bench {

Subject::Subject(const std::string& path) : path_(path) {
  try {
    library_ = std::make_unique<worker::LoadedLibrary>(path);
    if (library_->description().memory != KVEXACT_MEMORY_CUDA) {
      throw InputError(path, "memory", "bench times libraries whose tensors lie in CUDA memory");
    }
    library_->Create(0);
  } catch (const worker::OpenFailure& failure) {
    throw InputError(path, failure.field, failure.what);
  }
}
Subject::~Subject() = default;

std::string Subject::name() const { return library_->description().name; }
std::string Subject::version() const { return library_->description().version; }

std::string Subject::Unsupported(DeviceLaunch& launch) const {
  const worker::Answer answer = library_->Supports(launch.Get());
  if (answer.status == KVEXACT_ERROR) throw std::runtime_error(path_ + ": " + answer.text);
  return answer.status == KVEXACT_UNSUPPORTED ? answer.text : std::string();
}

void Subject::Run(DeviceLaunch& launch, cudaStream_t stream) const {
  const worker::Answer answer = library_->Run(launch.Get(), stream);
  if (answer.status != KVEXACT_OK) throw std::runtime_error(path_ + ": " + answer.text);
}

Replays::Replays(const Subject& subject, Workload& workload, Device& device, const Enqueue& more) {
  for (const std::unique_ptr<DeviceLaunch>& launch : workload) {
    subject.Run(*launch, device.stream());
    Require(cudaStreamSynchronize(device.stream()), "the launch");
    graphs_.emplace_back(
        [&](cudaStream_t stream) {
          subject.Run(*launch, stream);
          more(stream);
        },
        device.stream());
  }
}

std::vector<double> TimeRounds(const Replays& replays, int rounds, Device& device) {
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(rounds));
  for (int i = 0; i < rounds / 5; ++i) replays.Time(device, i);
  for (int i = 0; i < rounds; ++i) times.push_back(replays.Time(device, i));
  return times;
}

PairedRounds TimePairs(const std::string& workload, const Replays& a, const Replays& b, int rounds, Device& device,
                       const Clocks& clocks, ClockRecord& clocks_seen) {
  constexpr int kSamplesApart = 10;  // rounds
  PairedRounds pairs{.workload = workload, .a_us = {}, .b_us = {}};
  for (int i = -rounds / 5; i < rounds; ++i) {
    const int set = i + rounds;  // not negative
    double us[2];
    for (const int turn : {0, 1}) {
      const int which = (i & 1) ^ turn;
      us[which] = (which == 0 ? a : b).Time(device, set);
    }
    if (i < 0) continue;
    pairs.a_us.push_back(us[0]);
    pairs.b_us.push_back(us[1]);
    if (i % kSamplesApart == 0) clocks_seen.Add(clocks.Sample());
  }
  pairs.clocks_moved = clocks_seen.Moved();
  return pairs;
}

}  // namespace kvexact::bench
