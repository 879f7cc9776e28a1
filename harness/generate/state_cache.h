// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "harness/case/tensor.h"
#include "harness/generate/case_spec.h"
#include "harness/generate/shape.h"
#include "harness/generate/tokens.h"

namespace kvexact::generate {

// The state cache and the block table of a case.
class StateCache {
 public:
  // Places blocks for the window of every token that ends one and whose metadata is not garbage.
  StateCache(const CaseSpec& spec, const Shape& shape, const TokenPlan& plan);

  // [requests, columns]; entries that no live token reads are 2^30, or valid blocks where the spec
  // wants ordinary values.
  Tensor BlockTable() const;

  // [blocks, block stride]: KV and scores of the windows of live tokens; everything else is unread.
  Tensor State() const;

 private:
  // A logical block: a column of the table of the request that owns it.
  using Block = std::pair<std::int64_t, std::int64_t>;

  // Whose block a request has in a column: its own, or one of the first request's.
  std::int64_t OwnerOf(std::int64_t request, std::int64_t column) const {
    return column < shared_columns_ ? 0 : request;
  }
  std::int64_t PhysicalBlock(std::int64_t request, std::int64_t column) const;
  std::int64_t FirstRow(const Token& token) const;
  void FillWindow(const Token& token, Tensor& state) const;
  void PutSpecial(const Token& token, Tensor& state) const;
  float* Row(Tensor& state, const Token& token, std::int64_t position) const;

  const CaseSpec& spec_;
  const Shape& shape_;
  const TokenPlan& plan_;
  std::int64_t columns_ = 0;
  std::int64_t shared_columns_ = 0;
  std::vector<Block> blocks_;           // sorted
  std::vector<std::int64_t> physical_;  // of blocks_[i], then the spare ones
};

}  // namespace kvexact::generate
