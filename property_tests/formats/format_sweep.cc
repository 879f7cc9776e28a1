// SPDX-License-Identifier: Apache-2.0
// Compares the conversions with their witnesses for a range of fp32 bit patterns, by default all
// 2^32. Exit status: 0 no mismatch; 1 a mismatch; 2 bad usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

#include "property_tests/formats/check.h"

namespace {

using kvexact::format_tests::Check;
using kvexact::format_tests::Tally;

constexpr std::uint64_t kAllPatterns = std::uint64_t{1} << 32;

struct Options {
  std::vector<std::string> checks;
  std::uint64_t first = 0;
  std::uint64_t last = kAllPatterns - 1;
  std::uint32_t stride = 0;  // 0: each check's own
  unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  bool list = false;
};

Tally RunParallel(const Check& check, const Options& options, std::uint32_t stride) {
  // Chunks start at multiples of the stride, so that the patterns do not depend on the number of threads.
  const std::uint64_t chunk = (std::uint64_t{1} << 22) / stride * stride + stride;
  std::atomic<std::uint64_t> next{options.first};
  std::mutex mutex;
  Tally total;
  const auto work = [&] {
    Tally tally;
    for (;;) {
      const std::uint64_t first = next.fetch_add(chunk);
      if (first > options.last) break;
      const std::uint64_t count = std::min(chunk, options.last + 1 - first);
      tally.Add(RunRange(check, static_cast<std::uint32_t>(first), count, stride));
    }
    const std::lock_guard lock(mutex);
    total.Add(tally);
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares number conversions with their witnesses over fp32 bit patterns.");
  app.add_option("--check", options.checks, "names of checks (default: all)");
  app.add_option("--first", options.first, "first bit pattern")->check(CLI::Range(std::uint64_t{0}, kAllPatterns - 1));
  app.add_option("--last", options.last, "last bit pattern")->check(CLI::Range(std::uint64_t{0}, kAllPatterns - 1));
  app.add_option("--stride", options.stride, "distance of patterns (default: the check's own, 1 for most)");
  app.add_option("--threads", options.threads, "worker threads")->check(CLI::Range(1, 1024));
  app.add_flag("--list", options.list, "list the checks");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  std::vector<Check> checks = kvexact::format_tests::AllChecks();
  if (!options.checks.empty()) {
    for (const std::string& name : options.checks) {
      if (std::none_of(checks.begin(), checks.end(), [&](const Check& check) { return check.name == name; })) {
        fmt::print(stderr, "format_sweep: no check '{}' (see --list)\n", name);
        return 2;
      }
    }
    std::erase_if(checks, [&](const Check& check) {
      return std::find(options.checks.begin(), options.checks.end(), check.name) == options.checks.end();
    });
  }
  if (options.list) {
    for (const Check& check : checks) {
      fmt::print("{:22} {} (full sweep: stride {})\n", check.name, check.claim, check.full_stride);
    }
    return 0;
  }
  if (options.first > options.last) {
    fmt::print(stderr, "format_sweep: --first is above --last\n");
    return 2;
  }

  bool all_equal = true;
  for (const Check& check : checks) {
    const std::uint32_t stride = options.stride != 0 ? options.stride : check.full_stride;
    const auto start = std::chrono::steady_clock::now();
    const Tally tally = RunParallel(check, options, stride);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    fmt::print("{:22} patterns={:#010x}..{:#010x} stride={} compared={} mismatched={} seconds={:.1f}\n", check.name,
               options.first, options.last, stride, tally.compared(), tally.mismatched(), seconds.count());
    if (tally.first()) fmt::print("  first mismatch: {}\n", ToText(*tally.first()));
    std::fflush(stdout);
    all_equal = all_equal && tally.mismatched() == 0;
  }
  return all_equal ? 0 : 1;
}
