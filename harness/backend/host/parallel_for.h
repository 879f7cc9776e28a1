// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

namespace kvexact::host {

// body(i) for every i in [0, n), on up to `threads` threads that take `grain` indices at a time (at least 1,
// unless n is 0). Runs on
// the calling thread alone where `threads` is 1 or there is no more than one grain. The first exception
// of a body is rethrown here once all threads have stopped.
void ParallelFor(std::int64_t n, std::int64_t grain, int threads, const std::function<void(std::int64_t)>& body);

}  // namespace kvexact::host
