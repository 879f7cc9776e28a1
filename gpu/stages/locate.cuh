// SPDX-License-Identifier: Apache-2.0
// Which tokens do work, and where they write.
#pragma once

#include <cstdint>

#include "gpu/primitives/memory.cuh"
#include "gpu/stages/arguments.cuh"

namespace kvexact::gpu {

// A token that does work.
struct Token {
  std::int64_t position;
  std::int64_t kv_slot;
  std::int64_t index;
  std::int32_t request;
};

// Reads the four entries of a candidate, all at once, and says whether it does work: it has a state slot, reaches a
// boundary and, where kStore, has a KV slot. Nothing follows from the entries of a token that does none.
template <bool kStore>
__device__ inline bool Inspect(const CompressArguments& arguments, std::int64_t candidate, std::uint64_t ratio,
                               Token& token) {
  const bool exists = candidate < arguments.tokens;
  const std::int64_t i = exists ? candidate : 0;  // there is a first token: no kernel is launched without
  const std::int64_t slot = LoadNow(arguments.slots + i);
  token.index = candidate;
  token.position = LoadNow(arguments.positions + i);
  token.request = arguments.token_to_req != nullptr ? LoadNow(arguments.token_to_req + i) : 0;
  token.kv_slot = kStore ? LoadNow(arguments.kv_slots + i) : 0;
  // Unsigned: the position of a live token is not negative, that of a skipped one does not matter.
  return exists && slot >= 0 && token.kv_slot >= 0 && (static_cast<std::uint64_t>(token.position) + 1) % ratio == 0;
}

// The tokens that a worker (one of token_step) looks after, one after another, as all lanes of a warp see them. The
// tokens are dealt out in runs of 2^run_shift. Each lane inspects kPerLane candidates of a round and resolves what its
// live tokens need
// (`resolve`), so that a round costs one latency. `slots` is the warp's own shared memory, 32 * kPerLane entries.
template <bool kStore, int kPerLane, class Resolved, class Resolve>
class TokenQueue {
 public:
  __device__ TokenQueue(const CompressArguments& arguments, std::int64_t worker, std::uint64_t ratio, Resolved* slots,
                        Resolve resolve)
      : arguments_(arguments), worker_(worker), ratio_(ratio), slots_(slots), resolve_(resolve) {}

  // All lanes together. False when no token is left.
  __device__ bool Next(Resolved& next) {
    while (cursor_ == count_) {
      if (Candidate(first_) >= arguments_.tokens) return false;
      Fill();
    }
    next = slots_[cursor_++];
    return true;
  }

 private:
  // The i-th token of this worker.
  __device__ std::int64_t Candidate(int i) const {
    const int shift = arguments_.run_shift;
    return (((i >> shift) * arguments_.token_step + worker_) << shift) + (i & ((1 << shift) - 1));
  }

  __device__ void Fill() {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    Token token[kPerLane];
    bool live[kPerLane];
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      live[i] = Inspect<kStore>(arguments_, Candidate(first_ + lane + 32 * i), ratio_, token[i]);
    }
    __syncwarp();  // every lane has read the slots of the round before
    cursor_ = 0;
    count_ = 0;
#pragma unroll
    for (int i = 0; i < kPerLane; ++i) {
      const unsigned ballot = __ballot_sync(0xFFFFFFFFU, live[i]);
      if (live[i]) slots_[count_ + __popc(ballot & ((1U << lane) - 1))] = resolve_(token[i]);
      count_ += __popc(ballot);
    }
    first_ += 32 * kPerLane;
    __syncwarp();
  }

  const CompressArguments& arguments_;
  std::int64_t worker_;
  int first_ = 0;  // of the next round
  std::uint64_t ratio_;
  int cursor_ = 0;
  int count_ = 0;
  Resolved* slots_;
  Resolve resolve_;
};

}  // namespace kvexact::gpu
