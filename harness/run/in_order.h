// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace kvexact {

// Calls work(i) for i = 0, 1, ... below n on `threads` threads, and consume(i, result) for each on the calling thread,
// in the order of i. No new work is begun once go_on() is false; what was begun is consumed. At most 16 * threads
// results wait. An exception of work or consume ends the run and is thrown here.
template <class Result>
void InOrder(std::int64_t n, int threads, const std::function<Result(std::int64_t)>& work,
             const std::function<void(std::int64_t, Result)>& consume, const std::function<bool()>& go_on) {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::int64_t, Result> done;
  std::exception_ptr failure;
  std::int64_t next = 0;
  std::int64_t consumed = 0;
  bool stopped = n <= 0;
  int running = threads;
  const std::int64_t window = 16 * static_cast<std::int64_t>(threads);

  const auto worker = [&] {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return stopped || next - consumed < window; });
      if (stopped || next >= n || !go_on()) break;
      const std::int64_t i = next++;
      lock.unlock();
      try {
        Result result = work(i);
        lock.lock();
        done.emplace(i, std::move(result));
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        if (!failure) failure = std::current_exception();
        stopped = true;
      }
      changed.notify_all();
    }
    --running;
    changed.notify_all();
  };

  std::vector<std::jthread> pool;
  for (int t = 0; t < threads; ++t) pool.emplace_back(worker);
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return done.contains(consumed) || running == 0 || failure; });
    if (failure || !done.contains(consumed)) break;
    auto node = done.extract(consumed);
    lock.unlock();
    try {
      consume(node.key(), std::move(node.mapped()));
      lock.lock();
    } catch (...) {
      lock.lock();
      failure = std::current_exception();
      break;
    }
    ++consumed;
    changed.notify_all();
  }
  stopped = true;
  lock.unlock();
  changed.notify_all();
  pool.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kvexact
