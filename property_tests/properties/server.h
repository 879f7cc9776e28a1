// SPDX-License-Identifier: Apache-2.0
// A small serving engine around the compression kernels: requests, their state blocks and KV slots, launches.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "harness/backend/backend.h"
#include "harness/case/case.h"
#include "harness/generate/case_spec.h"
#include "harness/generate/shape.h"

namespace kvexact::properties {

inline constexpr std::int64_t kRequestRows = 5;   // that may be admitted at once
inline constexpr std::int64_t kTableColumns = 8;  // state blocks a request
inline constexpr std::int64_t kStateBlocks = kRequestRows * kTableColumns;
inline constexpr std::int64_t kCachePages = 6;

class Server {
 public:
  // Of the configuration only operation, ratio, overlap, block and page matter; the operation gathers and stores.
  Server(Backend& backend, const Configuration& config, std::uint64_t seed);

  std::int64_t capacity() const { return kTableColumns * config_.block; }  // positions a request

  void Admit(int request);
  // The next count[i] tokens of request[i], all of them in one launch. Then the whole cache is compared with what it
  // must hold: a mismatch fails the property.
  void Step(const std::vector<std::pair<int, std::int64_t>>& tokens);
  // Gives blocks and slots back; what they hold stays there.
  void Free(int request);

 private:
  struct Request {
    std::int64_t row;  // of the block table
    std::int64_t length = 0;
    std::vector<std::int32_t> blocks;
    std::vector<std::int64_t> slots;  // of the windows that have ended
  };
  struct Token {
    int request;
    std::int64_t position;
    std::int64_t kv_slot;
  };

  Token Append(int request);
  void WriteState(Tensor& state, std::int64_t block, int request, std::int64_t position) const;
  Case CaseOf(const std::vector<Token>& tokens, const Tensor& state, const Tensor& table, const Tensor& cache) const;
  // What a token stores, run by itself with tables of its own.
  void StoreAlone(const Token& token, Tensor& cache);

  Backend& backend_;
  Configuration config_;
  generate::Shape shape_;
  std::uint64_t seed_;
  Tensor angles_;
  Tensor weight_;
  Tensor state_;
  Tensor table_;
  Tensor cache_;
  Tensor expected_;
  std::map<int, Request> requests_;
  std::vector<std::int64_t> free_rows_;
  std::vector<std::int32_t> free_blocks_;
  std::vector<std::int64_t> free_slots_;
};

}  // namespace kvexact::properties
