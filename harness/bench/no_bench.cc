// SPDX-License-Identifier: Apache-2.0
// In builds that lack nvcc or Google Benchmark.
#include "harness/bench/bench.h"
#include "harness/case/input_error.h"

namespace kvexact::bench {
namespace {

[[noreturn]] void Refuse() {
  throw InputError("bench", "build",
                   "this program was built without nvcc or without Google Benchmark, and cannot time");
}

}  // namespace

BenchResult Measure(const std::string&, const BenchSettings&) { Refuse(); }
std::vector<Comparison> Compare(const std::string&, const std::string&, const BenchSettings&) { Refuse(); }

}  // namespace kvexact::bench
