// SPDX-License-Identifier: Apache-2.0
// backend_digest BACKEND [CASES [SEED]]: runs CASES drawn cases of each operation (default 200, seed 1) and
// prints, for each, the number of output bytes and a digest (FNV-1a, 64 bits) of all output buffers, bytes that
// must not change included. Exit status 1 if a case fails to run.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "harness/backend/backend.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"

namespace {

class Fnv1a {
 public:
  void Add(std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t byte : bytes) state_ = (state_ ^ byte) * 0x100000001B3ULL;
    count_ += bytes.size();
  }
  std::uint64_t value() const { return state_; }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325ULL;
  std::uint64_t count_ = 0;
};

bool DigestOperation(kvexact::Backend& backend, const kvexact::spec::OperationRow& row, std::uint64_t cases,
                     std::uint64_t seed) {
  const kvexact::DrawSettings settings{.operations = {row.id}, .seed = seed};
  Fnv1a digest;
  std::uint64_t unsupported = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    const kvexact::Case c = kvexact::Generate(kvexact::Draw(settings, i));
    kvexact::TensorMap outputs = c.outputs_before;
    const kvexact::RunOutcome outcome = backend.Run(c, outputs);
    if (outcome.status == kvexact::RunStatus::kUnsupported) {
      ++unsupported;
      continue;
    }
    if (outcome.status != kvexact::RunStatus::kOk) {
      std::fprintf(stderr, "backend_digest: %s: %s\n", c.name.c_str(), outcome.message.c_str());
      return false;
    }
    for (const auto& [name, tensor] : outputs) digest.Add(tensor.byte_span());
  }
  std::printf("%s cases=%llu unsupported=%llu bytes=%llu digest=%016llx\n", row.name,
              static_cast<unsigned long long>(cases), static_cast<unsigned long long>(unsupported),
              static_cast<unsigned long long>(digest.count()), static_cast<unsigned long long>(digest.value()));
  return true;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 4) {
    std::fputs("usage: backend_digest BACKEND [CASES [SEED]]\n", stderr);
    return 2;
  }
  const auto backend = kvexact::OpenBackend(argv[1]);
  const std::uint64_t cases = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 200;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  bool ran = true;
  for (const auto& row : kvexact::spec::kOperations) ran = DigestOperation(*backend, row, cases, seed) && ran;
  return ran ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "backend_digest: %s\n", error.what());
  return 2;
}
