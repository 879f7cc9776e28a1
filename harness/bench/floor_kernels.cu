// SPDX-License-Identifier: Apache-2.0
#include "harness/bench/floor_kernels.h"

namespace kvexact::bench {
namespace {

constexpr int kThreads = 128;
constexpr std::int64_t kHopStride = 4096 / 8;  // entries

template <int kVectors>
__global__ void __launch_bounds__(kThreads)
    Floor(const FloorAccesses a, const std::int64_t* next, const std::uint8_t* rows, unsigned* out) {
  std::int64_t token = blockIdx.x / static_cast<unsigned>(a.blocks_a_token);
  const int rank = static_cast<int>(blockIdx.x) % a.blocks_a_token;
  for (int hop = 0; hop < a.hops; ++hop) token = next[(hop * a.tokens + token) * kHopStride];
  unsigned sum = static_cast<unsigned>(token);
  if constexpr (kVectors > 0) {
    const int lanes = a.piece_bytes / 16;
    const int thread = static_cast<int>(threadIdx.x);
    const std::uint8_t* from =
        rows + token * a.token_bytes + rank * a.piece_bytes + (thread / lanes) * a.row_bytes + thread % lanes * 16;
    const int step = kThreads / lanes * a.row_bytes;
    uint4 v[kVectors];
#pragma unroll
    for (int i = 0; i < kVectors; ++i) v[i] = __ldcs(reinterpret_cast<const uint4*>(from + std::int64_t{i} * step));
#pragma unroll
    for (int i = 0; i < kVectors; ++i) sum += v[i].x ^ v[i].y ^ v[i].z ^ v[i].w;
  }
  out[blockIdx.x * kThreads + threadIdx.x] = sum;
}

}  // namespace

void EnqueueFloor(const FloorAccesses& a, const std::int64_t* next, const void* rows, unsigned* out,
                  cudaStream_t stream) {
  const auto kernel = a.vectors == 0 ? Floor<0> : a.vectors == 16 ? Floor<16> : Floor<32>;
  kernel<<<static_cast<unsigned>(a.tokens * a.blocks_a_token), kThreads, 0, stream>>>(
      a, next, static_cast<const std::uint8_t*>(rows), out);
}

}  // namespace kvexact::bench
