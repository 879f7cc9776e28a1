// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/bench/device.h"
#include "gpu/operations/compress.h"

namespace kvexact::gpu::bench {

// Decode: one token a request, every one at a boundary, positions in [2048, 4096). Prefill: requests of 8192 tokens
// from 0.
struct CompressShape {
  spec::Operation op;
  std::int64_t ratio;
  bool prefill;
  std::int64_t tokens;
};

// A launch and the memory that it runs on. State blocks are a random permutation of a pool of at most 24 GB.
struct CompressWorkload {
  CompressDescription description;
  std::int64_t compressed = 0;  // tokens that reach a boundary
  std::int64_t bytes = 0;       // each input byte that must be read and each output byte, once
  std::vector<Memory> memory;
};

// Bytes of the pool that all workloads share.
inline constexpr std::int64_t kPoolBytes = 24'000'000'000;

CompressWorkload MakeWorkload(const CompressShape& shape, const Memory& pool);

}  // namespace kvexact::gpu::bench
