// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "harness/backend/host/parallel_for.h"

namespace kvexact::host {
namespace {

TEST(HostParallelFor, VisitsEveryIndexOnce) {
  for (const std::int64_t n : {0, 1, 7, 8, 9, 1000}) {
    for (const int threads : {1, 2, 5}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(n));
      ParallelFor(n, 8, threads, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
      for (const auto& count : visits) ASSERT_EQ(count, 1);
    }
  }
}

TEST(HostParallelFor, NothingNeedsNoGrain) {
  ParallelFor(0, 0, 4, [](std::int64_t) { FAIL(); });
}

TEST(HostParallelFor, OneGrainStaysOnTheCallingThread) {
  const std::thread::id caller = std::this_thread::get_id();
  ParallelFor(8, 8, 4, [&](std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); });
}

TEST(HostParallelFor, RethrowsAfterAllThreadsStopped) {
  EXPECT_THROW(ParallelFor(1000, 1, 3,
                           [](std::int64_t i) {
                             if (i == 500) throw std::runtime_error("500");
                           }),
               std::runtime_error);
}

}  // namespace
}  // namespace kvexact::host
