// SPDX-License-Identifier: Apache-2.0
// A case: one launch of one operation, with everything that it reads and what its output buffers
// held before. Schema of its file form and list of checks: docs/case-format.md ("kvexact-case/1").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/input_error.h"
#include "harness/case/tensor.h"
#include "reference/operations/inputs.h"
#include "reference/spec/layout.h"
#include "reference/spec/operation.h"

namespace kvexact {

// The strict model is defined for windows of up to this many rows (docs/numerics.md).
inline constexpr std::int64_t kMaxWindowRows = 1024;

// Scalar parameters. Fields that an operation does not use keep their defaults.
struct Params {
  std::int64_t head_dim = 0;
  std::int64_t rope_head_dim = 64;
  std::int64_t compress_ratio = 1;
  bool overlap = false;
  std::int64_t block_size = 1;
  std::int64_t state_width = 0;
  std::int64_t state_row_stride = 0;  // elements
  std::int64_t quant_block = 0;
  std::int64_t token_stride = 0;          // bytes
  std::int64_t scale_dim = 0;             // scale bytes a token, pad included
  std::int64_t kv_cache_block_size = 1;   // tokens a page
  std::int64_t kv_cache_base_offset = 0;  // bytes before the first token of page 0; pages lie within the tensor's rows
  std::string layout;                     // name of a row of spec::kLayouts; empty: the operation's own
  double rms_norm_eps = 1e-6;             // rounded to fp32 when used
  std::int64_t num_actual = 0;
  std::int64_t num_decode_tokens = 0;
  std::int64_t num_splits = 1;
  double softmax_scale = 1;  // rounded to fp32 when used
  double head_scale = 1;
  bool q_fnuz = false;  // indexer_q_fp8 with E4M3FNUZ codes

  bool operator==(const Params&) const = default;
};

struct Case {
  std::string name;  // file stem or one-line spec
  spec::Operation op{};
  Params params;
  TensorMap inputs;                          // by schema name: state_cache, positions, ...
  TensorMap outputs_before;                  // by buffer name: kv_cache, scratch, q_fp8, q_packed, q_scale, weights_out
  std::optional<TensorMap> outputs_after;    // recorded outputs, where there are any
  std::map<std::string, std::string> notes;  // dist, special, recorded_on: for people

  const spec::OperationRow& row() const { return spec::row(op); }
  bool operator==(const Case&) const = default;
};

// Throws InputError (with source = c.name) unless every shape, stride, parameter and every entry that
// a live token reads is usable: see docs/case-format.md for the list. After Check a case can be run.
void Check(const Case& c);

// Views of a checked case for the operations. The object owns what had to be widened (bf16 norm
// weights, cos/sin and Q weights to fp32) and borrows the rest: the case must outlive it.
class CompressBinding {
 public:
  explicit CompressBinding(const Case& c);
  CompressBinding(const CompressBinding&) = delete;
  CompressBinding& operator=(const CompressBinding&) = delete;
  ~CompressBinding() = default;
  const CompressInputs& inputs() const { return inputs_; }

 private:
  std::vector<float> norm_weight_;
  CompressInputs inputs_;
};

class IndexerQBinding {
 public:
  explicit IndexerQBinding(const Case& c);
  IndexerQBinding(const IndexerQBinding&) = delete;
  IndexerQBinding& operator=(const IndexerQBinding&) = delete;
  ~IndexerQBinding() = default;
  const IndexerQInputs& inputs() const { return inputs_; }

 private:
  std::vector<float> cos_sin_;
  std::vector<float> weights_;
  IndexerQInputs inputs_;
};

// Output views into `outputs`, whose buffers have the shapes of c.outputs_before.
CompressOutputs BindCompressOutputs(const Case& c, TensorMap& outputs);
IndexerQOutputs BindIndexerQOutputs(const Case& c, TensorMap& outputs);

// Placement of the case's KV cache: the layout row with the case's token and scale strides.
// An operation that writes no cache has a placement of zero pages.
spec::PagedCache CacheOf(const Case& c);

}  // namespace kvexact
