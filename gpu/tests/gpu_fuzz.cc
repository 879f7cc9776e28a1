// SPDX-License-Identifier: Apache-2.0
// Draws cases and compares the kernels with the reference, byte for byte.
// Exit status: 0 all equal; 1 a difference; 2 bad usage; 3 there is no device.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "gpu/operations/machine.h"
#include "gpu/tests/digest.h"
#include "gpu/tests/fuzz_case.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"

namespace kvexact::gpu {
namespace {

struct Options {
  std::uint64_t seed = 1;
  std::int64_t cases = 1000;
  std::int64_t size = 1;
  std::int64_t max_configs = 200;
  std::int64_t seconds = 0;  // 0: no limit
  int threads = 0;           // 0: one a core
  std::int64_t bulk = 0;
  bool huge = false;
  std::string digests;
};

// Cases of many tokens, one after another with another seed: they carry most of the bytes.
constexpr const char* kBulk[] = {
    "op=sparse_attn requests=0+4096x2",
    "op=indexer_q_fp8 heads=64 requests=0+768x1",
    "op=indexer_fp8 requests=5+8192x2 order=shuffled skip_slots=10",
    "op=indexer_q_mxfp4 heads=64 requests=0+768x1",
    "op=indexer_mxfp4 requests=0+8192x2",
    "op=sparse_attn ratio=128 overlap=false block=8 page=2 requests=0+8192x2",
    "op=two_stage requests=0+8192x2 decode=300",
    "op=gather_split requests=0+8192x2 splits=4",
    "op=finalize requests=0+8192x4",
    "op=sparse_attn ratio=8 requests=0+4096x1 page=5",
    "op=indexer_fp8 ratio=3 block=7 requests=0+4096x1 rope=30",
    "op=indexer_q_fp8 fnuz=true heads=24 requests=0+512x1",
    "op=sparse_attn requests=0+4096x2 values=heavy scores=high weights=one",
    "op=indexer_q_mxfp4 heads=64 requests=0+512x1 values=e2m1_mid",
    "op=indexer_q_fp8 heads=64 requests=0+512x1 special=nan",
};

struct Totals {
  std::mutex mutex;
  std::map<std::string, FuzzOutcome> by_operation;
  std::int64_t cases = 0;
  std::vector<std::string> failures;
};

class Run {
 public:
  Run(const Options& options, const Machine& machine) : options_(options), machine_(machine) {
    for (const spec::OperationRow& row : spec::kOperations) settings_.operations.push_back(row.id);
    settings_.seed = options.seed;
    settings_.size = options.size;
    settings_.max_configs = options.max_configs;
  }

  void Work() {
    FuzzDevice device;
    cudaStreamCreate(&device.stream);
    for (std::int64_t i = next_++; i < options_.bulk + options_.cases && !OutOfTime() && failed_ < 20; i = next_++) {
      const Case c = Generate(SpecOf(i));
      const FuzzOutcome outcome = FuzzCase(c, machine_, device);
      const std::scoped_lock lock(totals_.mutex);
      FuzzOutcome& sum = totals_.by_operation[c.row().name];
      sum.launches += outcome.launches;
      sum.bytes += outcome.bytes;
      ++totals_.cases;
      if (!outcome.failure.empty()) {
        ++failed_;
        totals_.failures.push_back(c.name + "\n    " + outcome.failure);
      }
    }
    cudaStreamDestroy(device.stream);
  }

  int Report() const {
    std::int64_t launches = 0;
    std::int64_t bytes = 0;
    for (const auto& [name, sum] : totals_.by_operation) {
      fmt::print("{:16} launches={} bytes={}\n", name, sum.launches, sum.bytes);
      launches += sum.launches;
      bytes += sum.bytes;
    }
    for (const std::string& failure : totals_.failures) fmt::print("different: {}\n", failure);
    fmt::print("gpu_fuzz seed={} cases={} launches={} bytes={} different={}\n", options_.seed, totals_.cases, launches,
               bytes, totals_.failures.size());
    return totals_.failures.empty() && totals_.cases > 0 ? 0 : 1;
  }

 private:
  CaseSpec SpecOf(std::int64_t i) const {
    constexpr auto kKinds = static_cast<std::int64_t>(std::size(kBulk));
    if (i < options_.bulk) {
      return ParseSpec(
          fmt::format("{} seed={}", kBulk[i % kKinds], options_.seed * 1000 + static_cast<std::uint64_t>(i)));
    }
    return Draw(settings_, static_cast<std::uint64_t>(i - options_.bulk));
  }

  bool OutOfTime() const {
    return options_.seconds > 0 && std::chrono::steady_clock::now() - start_ > std::chrono::seconds(options_.seconds);
  }

  Options options_;
  Machine machine_;
  DrawSettings settings_;
  Totals totals_;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<int> failed_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Writes the digest of what the kernels store, a line a spec.
int WriteDigests(const std::string& path) {
  std::ofstream file(path);
  FuzzDevice device;
  for (const char* spec : DigestSpecs()) {
    const Case c = Generate(ParseSpec(spec));
    TensorMap outputs = c.outputs_before;
    if (const std::string failure = RunOnDevice(c, outputs, device); !failure.empty()) {
      fmt::print(stderr, "gpu_fuzz: {}: {}\n", spec, failure);
      return 1;
    }
    file << fmt::format("{:016x} {}\n", DigestOf(outputs), spec);
  }
  return file.good() ? 0 : 2;
}

int Main(int argc, char** argv) {
  CLI::App app("Compares the CUDA kernels with the strict model on drawn cases.");
  Options options;
  app.add_option("--seed", options.seed, "of the draw")->capture_default_str();
  app.add_option("--cases", options.cases, "at most")->capture_default_str();
  app.add_option("--size", options.size, "work a case, as a multiple of a few tokens")->capture_default_str();
  app.add_option("--max-configs", options.max_configs, "configurations in the run")->capture_default_str();
  app.add_option("--time", options.seconds, "seconds after which no case is begun; 0: no limit")->capture_default_str();
  app.add_option("--threads", options.threads, "0: one a core")->capture_default_str();
  app.add_option("--bulk", options.bulk, "cases of many tokens, before the drawn ones")->capture_default_str();
  app.add_option("--digests", options.digests, "write the digests of a list of specs here, and nothing else");
  app.add_flag("--huge", options.huge, "caches beyond 2^32 bytes first");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  Machine machine;
  if (const Status s = ThisMachine(machine); !s.ok()) {
    fmt::print(stderr, "gpu_fuzz: {}\n", s.message);
    return 3;
  }
  if (!options.digests.empty()) return WriteDigests(options.digests);
  if (options.huge) {
    if (const std::string failure = FuzzHuge(static_cast<std::int64_t>(options.seed)); !failure.empty()) {
      fmt::print("different: {}\n", failure);
      return 1;
    }
    fmt::print("caches beyond 2^32 bytes: equal\n");
  }
  Run run(options, machine);
  const unsigned threads =
      options.threads > 0 ? static_cast<unsigned>(options.threads) : std::thread::hardware_concurrency();
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < threads; ++i) workers.emplace_back([&] { run.Work(); });
  for (std::thread& worker : workers) worker.join();
  return run.Report();
}

}  // namespace
}  // namespace kvexact::gpu

int main(int argc, char** argv) {
  try {
    return kvexact::gpu::Main(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_fuzz: %s\n", e.what());
    return 2;
  }
}
