// SPDX-License-Identifier: Apache-2.0
// The workloads of the benchmark: shapes of production, each with fixed work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/spec/operation.h"

namespace kvexact::bench {

// Decode: one token a request, every one at a boundary, positions in [2048, 4096). Prefill: requests of 8,192 tokens
// from position 0. Ratio 4 has overlapping windows and state blocks of 4, ratio 128 neither and blocks of 8. Q: 64
// heads of 128, bf16 weights, fp32 weights out, positions below 65,536.
struct WorkloadRow {
  std::string kernel;  // such as "sparse_c4"
  std::string mode;    // decode, prefill, heads64
  spec::Operation op{};
  std::int64_t ratio = 0;  // 0: indexer Q
  std::int64_t tokens = 0;

  std::string Name() const { return kernel + "/" + mode + "/" + std::to_string(tokens); }
  bool Prefill() const { return mode == "prefill"; }
  bool Overlap() const { return ratio == 4; }
  std::int64_t Requests() const;
  // Tokens that reach a boundary.
  std::int64_t Compressed() const;
  // Each input byte that must be read and each output byte, once.
  std::int64_t Bytes() const;
};

inline constexpr std::int64_t kPrefillLength = 8192;
inline constexpr std::int64_t kDecodeLength = 4096;
inline constexpr std::int64_t kQHeads = 64;
inline constexpr std::int64_t kQPositions = 65536;

const std::vector<WorkloadRow>& Workloads();

// Those whose name matches the ECMAScript regular expression, all if it is empty. Throws InputError if it is none or
// matches none.
std::vector<WorkloadRow> WorkloadsMatching(const std::string& filter);

}  // namespace kvexact::bench
