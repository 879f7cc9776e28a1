// SPDX-License-Identifier: Apache-2.0
// What the machine allows at best: kernels with the memory accesses of small workloads, from a cold L2, and no
// arithmetic. Prints microseconds above an empty launch.
//
// usage: kvexact_floor
// Exit status: 0; 3 there is no device; 4 the device failed.
#include <cstdio>
#include <exception>
#include <vector>

#include "harness/bench/bench.h"
#include "harness/bench/device.h"
#include "harness/bench/device_kernels.h"
#include "harness/bench/floor_kernels.h"
#include "harness/bench/workload.h"

namespace kvexact::bench {
namespace {

constexpr int kRounds = 101;

struct Row {
  const char* what;
  FloorAccesses accesses;
};

FloorAccesses Hops(std::int64_t tokens, int hops) { return {.tokens = tokens, .blocks_a_token = 1, .hops = hops}; }

// sparse_attn at ratio 4: two state blocks of 32 KiB, of which a block reads 16 pieces of 2 KiB.
FloorAccesses Ratio4(std::int64_t tokens, int hops) { return {tokens, 1, hops, 16, 2048, 4096, 64 << 10}; }

// sparse_attn at ratio 128: 128 rows of 4 KiB (KV, then scores), of which each of 8 blocks reads its 64 columns.
FloorAccesses Ratio128(std::int64_t tokens, int hops) { return {tokens, 8, hops, 32, 256, 2048, 512 << 10}; }

double MedianUs(const FloorAccesses& a, const StatePool& pool, Device& device) {
  std::vector<std::int64_t> next(static_cast<std::size_t>(a.hops * a.tokens) * (4096 / 8) + 1);
  for (std::int64_t i = 0; i < a.hops * a.tokens; ++i) next[static_cast<std::size_t>(i * (4096 / 8))] = i % a.tokens;
  const Memory hops = Upload(next);
  const Memory out(a.tokens * a.blocks_a_token * 128 * 4);
  const Graph graph(
      [&](cudaStream_t stream) {
        EnqueueFloor(a, static_cast<const std::int64_t*>(hops.data()), pool.data(), static_cast<unsigned*>(out.data()),
                     stream);
      },
      device.stream());
  std::vector<double> times;
  times.reserve(kRounds);
  for (int i = 0; i < kRounds; ++i) times.push_back(device.Replay(graph));
  return Median(times);
}

int Main() {
  const Row rows[] = {
      {"1 block, a store", Hops(1, 0)},
      {"1 block, 1 dependent load", Hops(1, 1)},
      {"1 block, 2 dependent loads", Hops(1, 2)},
      {"1 block, 3 dependent loads", Hops(1, 3)},
      {"64 blocks, 2 dependent loads (indexer Q, 1 token)", Hops(64, 2)},
      {"ratio 4, 1 token: 2 dependent loads, rows", Ratio4(1, 2)},
      {"ratio 4, 64 tokens", Ratio4(64, 2)},
      {"ratio 4, 512 tokens", Ratio4(512, 2)},
      {"ratio 4, 512 tokens, rows alone", Ratio4(512, 0)},
      {"ratio 4, 2048 tokens", Ratio4(2048, 2)},
      {"ratio 4, 2048 tokens, rows alone", Ratio4(2048, 0)},
      {"ratio 128, 1 token: 2 dependent loads, rows", Ratio128(1, 2)},
      {"ratio 128, 64 tokens", Ratio128(64, 2)},
      {"ratio 128, 64 tokens, rows alone", Ratio128(64, 0)},
      {"ratio 128, 512 tokens", Ratio128(512, 2)},
  };
  Device device;
  const StatePool pool;
  const Limits limits = device.MeasureLimits(kRounds);
  std::printf("empty launch %.3f us, copy %.3f TB/s on %s; microseconds above the launch\n", limits.empty_us,
              limits.bandwidth * 1e-12, device.name().c_str());
  for (const Row& row : rows) {
    const FloorAccesses& a = row.accesses;
    const double bytes = static_cast<double>(a.tokens * a.blocks_a_token * a.vectors) * 128 * 16;
    const double us = MedianUs(a, pool, device) - limits.empty_us;
    std::printf("%-52s %8.2f us, %8.2f us behind the rows' bytes at copy bandwidth\n", row.what, us,
                us - bytes / limits.bandwidth * 1e6);
  }
  return 0;
}

}  // namespace
}  // namespace kvexact::bench

int main() {
  try {
    return kvexact::bench::Main();
  } catch (const kvexact::bench::NoDevice& e) {
    std::fprintf(stderr, "kvexact_floor: %s\n", e.what());
    return 3;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kvexact_floor: %s\n", e.what());
    return 4;
  }
}
