// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/host/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kvexact::host {

void ParallelFor(std::int64_t n, std::int64_t grain, int threads, const std::function<void(std::int64_t)>& body) {
  if (n == 0) return;
  const std::int64_t grains = (n + grain - 1) / grain;
  const std::int64_t workers = std::min<std::int64_t>(threads, grains);
  if (workers <= 1) {
    for (std::int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (std::int64_t begin = next.fetch_add(grain); begin < n; begin = next.fetch_add(grain)) {
        const std::int64_t end = std::min(begin + grain, n);
        for (std::int64_t i = begin; i < end; ++i) body(i);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> pool;
    for (std::int64_t i = 1; i < workers; ++i) pool.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kvexact::host
