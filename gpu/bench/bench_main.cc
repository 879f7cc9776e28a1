// SPDX-License-Identifier: Apache-2.0
// Times the kernels on the workloads that the peers are timed on. Standard output: a table; --json: one line a
// measurement. Exit status: 0; 2 bad usage or unreadable peers; 3 there is no device.
#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "gpu/bench/compress_workload.h"
#include "gpu/bench/indexer_q_workload.h"
#include "gpu/bench/report.h"
#include "gpu/bench/variants.h"
#include "gpu/operations/machine.h"

namespace kvexact::gpu::bench {
namespace {

struct Options {
  std::string json;
  std::string peers;
  std::string only;
  bool variants = false;
};

constexpr std::array<std::int64_t, 3> kDecodeTokens = {1, 64, 512};
constexpr std::array<std::int64_t, 3> kPrefillTokens = {2048, 8192, 65536};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), json_(options.json) {
    limits_ = {timer_.EmptyLaunch(), timer_.CopyBandwidth()};
  }

  void Compress() {
    const Memory pool(kPoolBytes);
    FillNormal(pool.as<float>(), kPoolBytes / 4, 1);
    struct Kernel {
      const char* name;
      spec::Operation op;
      std::int64_t ratio;
    };
    for (const Kernel& kernel : {Kernel{"sparse_c4", spec::Operation::kSparseAttn, 4},
                                 Kernel{"sparse_c128", spec::Operation::kSparseAttn, 128},
                                 Kernel{"indexer_fp8_c4", spec::Operation::kIndexerFp8, 4},
                                 Kernel{"indexer_mxfp4_c4", spec::Operation::kIndexerMxfp4, 4}}) {
      for (const bool prefill : {false, true}) {
        for (const std::int64_t tokens : prefill ? kPrefillTokens : kDecodeTokens) {
          if (LeftOut(kernel.name, tokens)) continue;
          const CompressWorkload w = MakeWorkload({kernel.op, kernel.ratio, prefill, tokens}, pool);
          for (const Variant variant : kVariants) {
            if (variant != Variant::kStrict && !options_.variants) continue;
            Emit({kernel.name, prefill ? "prefill" : "decode", NameOf(variant), tokens, w.compressed, w.bytes,
                  timer_.Microseconds([&](cudaStream_t stream) { LaunchVariant(w.description, variant, stream); })});
          }
        }
      }
    }
  }

  void IndexerQ() {
    for (const std::int64_t tokens : {1, 64, 512, 8192}) {
      for (const bool mxfp4 : {false, true}) {
        if (LeftOut(mxfp4 ? "indexer_q_mxfp4" : "indexer_q_fp8", tokens)) continue;
        const IndexerQWorkload w = MakeIndexerQWorkload(tokens, mxfp4);
        Emit({mxfp4 ? "indexer_q_mxfp4" : "indexer_q_fp8", "heads64", "strict", tokens, tokens, w.bytes,
              timer_.Microseconds([&](cudaStream_t stream) {
                if (const Status s = Launch(w.description, stream); !s.ok()) throw std::runtime_error(s.message);
              })});
      }
    }
  }

  void Report() {
    std::vector<Row> peers;
    if (!options_.peers.empty()) peers = ReadPeers(options_.peers, limits_);
    PrintTable(rows_, peers, limits_);
    for (const Row& row : rows_) json_ << JsonLine(row, limits_) << '\n';
  }

 private:
  bool LeftOut(const char* kernel, std::int64_t tokens) const {
    return !options_.only.empty() && options_.only != std::string(kernel) + ":" + std::to_string(tokens);
  }

  void Emit(Row row) {
    std::fprintf(stderr, "%s %s %s %lld: %.2f us\n", row.kernel.c_str(), row.mode.c_str(), row.variant.c_str(),
                 static_cast<long long>(row.tokens), row.us);
    rows_.push_back(std::move(row));
  }

  Options options_;
  std::ofstream json_;
  Timer timer_;
  Limits limits_;
  std::vector<Row> rows_;
};

int Main(int argc, char** argv) {
  CLI::App app("Times the CUDA kernels on fixed workloads, from a cold L2.");
  Options options;
  app.add_option("--json", options.json, "write one line a measurement here");
  app.add_option("--peers", options.peers, "JSON lines of other kernels on the same workloads, to stand beside");
  app.add_option("--only", options.only, "KERNEL:TOKENS, one workload");
  app.add_flag("--variants", options.variants, "time fast arithmetic and bare loads too");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  Machine machine;
  if (const Status s = ThisMachine(machine); !s.ok()) {
    std::fprintf(stderr, "kvexact_bench_gpu: %s\n", s.message.c_str());
    return 3;
  }
  try {
    Bench bench(options);
    bench.Compress();
    bench.IndexerQ();
    bench.Report();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "kvexact_bench_gpu: %s\n", e.what());
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace kvexact::gpu::bench

int main(int argc, char** argv) { return kvexact::gpu::bench::Main(argc, argv); }
