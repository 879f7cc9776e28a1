// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace kvexact::bench {

// A kernel with a workload's memory accesses and no arithmetic. Each block of 128 threads follows `hops` loads that
// depend on each other, reads `vectors` times 16 bytes a thread, all at once, and writes 4 bytes a thread.
struct FloorAccesses {
  std::int64_t tokens = 1;
  int blocks_a_token = 1;
  int hops = 0;                  // one cold miss after another
  int vectors = 0;               // 0, 16 or 32
  int piece_bytes = 0;           // consecutive bytes that a block reads of a row: 256 or 2048
  int row_bytes = 0;             // from row to row
  std::int64_t token_bytes = 0;  // from token to token in memory
};

// `next` has hops * tokens entries 4 KiB apart, next[h][t] = t; `rows` has tokens * token_bytes bytes.
void EnqueueFloor(const FloorAccesses& accesses, const std::int64_t* next, const void* rows, unsigned* out,
                  cudaStream_t stream);

}  // namespace kvexact::bench
