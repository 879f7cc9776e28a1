// SPDX-License-Identifier: Apache-2.0
// What one live token of a case reads, gathered straight from the case's tensors. Written from the
// kernels' contract, apart from harness/case bindings and reference/stages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/case/case.h"

namespace kvexact::oracle {

// Why a token stores nothing, in the order in which the kernels leave.
enum class Exit : std::uint8_t { kNone, kInert, kNegativeSlot, kNotABoundary, kNegativeKvSlot };

// Of `gather_split`, which never looks at the KV slot, kNegativeKvSlot is not an exit.
Exit ExitOf(const Case& c, std::int64_t token);

struct CompressToken {
  spec::Operation op{};
  int head_dim = 0;
  int rope_dim = 0;
  int rows = 0;                      // 0 for finalize, whose columns come ready
  std::vector<float> score;          // [rows, head_dim]; -inf before position 0
  std::vector<float> kv;             // [rows, head_dim]; 0 before position 0
  std::vector<float> ready_columns;  // [head_dim], finalize only
  std::vector<float> norm_weight;    // [head_dim]; empty for gather_split, which stops at the columns
  std::vector<float> cos, sin;       // [rope_dim / 2]
  float eps = 0;
  std::int64_t position = 0;
  std::int64_t kv_slot = -1;  // -1 for gather_split

  // Head 128 sends every pair through the rotation, head 512 only the last rope_dim columns.
  bool RotatesEveryPair() const { return head_dim == 128; }
};

// The token must be live (ExitOf kNone) and the case checked.
CompressToken GatherToken(const Case& c, std::int64_t token);

enum class QKind : std::uint8_t { kFp8, kFp8Fnuz, kMxfp4 };

struct QHead {
  QKind kind{};
  int head_dim = 0;
  int rope_dim = 0;
  std::vector<float> q;         // [head_dim], bf16 values
  std::vector<float> cos, sin;  // [rope_dim / 2]
  float weight = 0;
  float softmax_scale = 1;
  float head_scale = 1;
  bool weight_out_bf16 = false;
};

QHead GatherQHead(const Case& c, std::int64_t token, std::int64_t head);

}  // namespace kvexact::oracle
