// SPDX-License-Identifier: Apache-2.0
// The recipe of a case, as one line of text: configuration (what a compiler specialises on) and data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/case/input_error.h"
#include "harness/generate/kinds.h"
#include "reference/spec/operation.h"

namespace kvexact {

// Defaults are those of DefaultSpec; sizes are elements unless bytes are said.
struct Configuration {
  spec::Operation op{};
  std::int64_t ratio = 4;
  bool overlap = false;
  std::int64_t block = 4;             // positions a state block
  std::int64_t width_pad = 0;         // of state_width, beyond head_dim * (1 + overlap)
  std::int64_t row_pad = 0;           // of state_row_stride, beyond 2 * state_width
  std::int64_t block_pad = 0;         // of the block stride, beyond block * state_row_stride
  std::int64_t page = 64;             // tokens a page of the KV cache
  std::string layout;                 // row of spec::kLayouts; empty: the operation's own
  std::int64_t token_pad = 0;         // bytes of token_stride beyond the layout's
  std::int64_t scale_pad = 0;         // bytes of scale_dim beyond the layout's
  std::int64_t base = 0;              // kv_cache_base_offset, bytes
  std::int64_t page_multiple = 576;   // the page stride is the next multiple of so many bytes
  std::int64_t rope = 64;             // rope_head_dim
  std::int64_t angle_pad = 0;         // of a row of cos_sin_cache, beyond rope
  std::int64_t scratch_pad = 0;       // of a scratch row, beyond head_dim
  std::int64_t splits = 1;            // num_splits of gather_split
  std::int64_t heads = 8;             // of Q
  bool fnuz = false;                  // indexer_q_fp8 with E4M3FNUZ codes
  generate::FloatType norm_type{};    // of rms_norm_weight
  generate::FloatType angle_type{};   // of Q's cos_sin_cache
  generate::FloatType weight_type{};  // of index_weights
  generate::FloatType out_type{};     // of weights_out

  bool operator==(const Configuration&) const = default;
};

// `count` requests, each with `length` tokens at positions start, start + 1, ...
struct RequestRun {
  std::int64_t start = 0;
  std::int64_t length = 1;
  std::int64_t count = 1;
  bool operator==(const RequestRun&) const = default;
};

struct CaseSpec {
  Configuration config;
  std::uint64_t seed = 1;
  std::vector<RequestRun> requests{{0, 8, 1}};  // of Q: runs of positions
  generate::TokenOrder order{};
  std::int64_t decode = 0;           // num_decode_tokens of two_stage, any value
  std::int64_t skip_slots = 0;       // percent of tokens with a negative slot
  std::int64_t skip_kv_slots = 0;    // percent of tokens with a negative KV slot
  bool kv_slots_everywhere = false;  // tokens that end no window have a valid KV slot too
  generate::Garbage garbage{};
  std::int64_t tail = 0;  // tokens behind num_actual
  generate::BlockOrder blocks{};
  std::int64_t spare_blocks = 1;   // state blocks that nothing refers to
  std::int64_t spare_columns = 0;  // of the block table
  generate::SlotOrder kv_slots{};
  std::int64_t spare_pages = 1;
  std::int64_t spare_angles = 0;  // rows of cos_sin_cache behind the last position
  generate::ValueKind values{};   // of KV, scratch or Q
  generate::ScoreKind scores{};
  generate::ValueKind weights = generate::ValueKind::kNearOne;  // of the norm, or index_weights
  generate::AngleKind angles{};
  generate::Special special{};
  generate::Unread unread{};
  double eps = 1e-6;
  double softmax_scale = 0.08838834764831845;  // 1 / sqrt(128)
  double head_scale = 0.125;                   // 1 / sqrt(64)

  bool operator==(const CaseSpec&) const = default;
};

// Production settings of the operation, one short request.
CaseSpec DefaultSpec(spec::Operation op);

// "op=NAME" and every setting that differs from DefaultSpec(op), as key=value, one space between.
std::string ToText(const CaseSpec& spec);
// The same for the configuration alone: equal configurations have equal texts.
std::string ToText(const Configuration& config);

// Parses what ToText prints, in any order of keys: ParseSpec(ToText(s)) == s for every usable s.
// Throws InputError(text, key, ...) for anything else and for a spec that does not pass Check.
CaseSpec ParseSpec(std::string_view text);

// Throws InputError(ToText(spec), key, ...) unless every setting is in range, belongs to the
// operation (or keeps its default) and the case stays below 2^28 elements of each tensor.
void Check(const CaseSpec& spec);

// True if the case holds a NaN or an infinity that a live token reads.
inline bool NonFinite(const CaseSpec& spec) { return spec.special != generate::Special::kNone; }

// Tokens of all requests, without the tail.
std::int64_t TokensOf(const CaseSpec& spec);
std::int64_t RequestsOf(const CaseSpec& spec);

}  // namespace kvexact
