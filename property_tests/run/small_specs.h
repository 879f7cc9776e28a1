// SPDX-License-Identifier: Apache-2.0
// One small generated case an operation: padded strides, skipped and KV-skipped tokens, an inert tail, spare pages.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "harness/case/case.h"

namespace kvexact {

struct SmallSpec {
  const char* name;  // letters, for test names
  const char* text;
};
inline std::ostream& operator<<(std::ostream& out, const SmallSpec& spec) { return out << spec.name; }

inline const std::vector<SmallSpec>& SmallSpecs() {
  static const std::vector<SmallSpec> specs = {
      {"SparseAttn",
       "op=sparse_attn ratio=2 overlap=true block=3 page=3 token_pad=4 scale_pad=2 requests=0+7,4+6 skip_slots=10 "
       "skip_kv_slots=20 tail=2 garbage=skipped"},
      {"IndexerFp8", "op=indexer_fp8 ratio=2 requests=0+9,3+5 skip_slots=10 skip_kv_slots=20 tail=3"},
      {"IndexerMxfp4", "op=indexer_mxfp4 ratio=2 requests=0+9,3+5 skip_slots=10 skip_kv_slots=20 tail=3"},
      {"TwoStage", "op=two_stage ratio=2 overlap=false requests=5+1,8+1,0+9 decode=2 skip_slots=10 tail=1"},
      {"GatherSplit", "op=gather_split ratio=2 scratch_pad=5 splits=4 requests=0+7 skip_slots=10 tail=1"},
      {"Finalize", "op=finalize ratio=2 scratch_pad=3 requests=0+8 skip_slots=10 skip_kv_slots=20 tail=1"},
      {"QFp8", "op=indexer_q_fp8 heads=3 requests=0+4,9+2 tail=2"},
      {"QFp8Fnuz", "op=indexer_q_fp8 fnuz=true heads=3 requests=0+4,9+2 tail=2"},
      {"QMxfp4", "op=indexer_q_mxfp4 heads=3 out_type=bf16 requests=0+4,9+2 tail=2"},
  };
  return specs;
}

Case SmallCase(const SmallSpec& spec);

}  // namespace kvexact
