// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/checks.h"
#include "gpu/operations/indexer_q.h"

namespace kvexact::gpu {

Status Check(const IndexerQDescription& d) {
  const bool mxfp4 = d.codes == QCodes::kE2m1;
  if (d.head_dim != 128) return Unsupported("head_dim", "must be 128");
  if (Status s = RequireRange("tokens", d.tokens, 0, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("heads", d.heads, 0, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("rope_head_dim", d.rope_head_dim, 0, d.head_dim); !s.ok()) return s;
  if (d.rope_head_dim % 2 != 0) return Invalid("rope_head_dim", "must be even");
  if (d.weights_out_bf16 && !mxfp4) return Unsupported("weights_out_bf16", "FP8 weights are fp32");
  if (d.tokens == 0 || d.heads == 0) return {};
  if (d.heads > kMaxExtent / d.tokens) return Invalid("heads", "tokens * heads is out of range");

  if (Status s = RequireAligned("q", d.q, 2); !s.ok()) return s;
  if (Status s = RequireAligned("positions", d.positions, 8); !s.ok()) return s;
  if (Status s = RequireAligned("cos_sin", d.cos_sin, d.cos_sin_bf16 ? 2 : 4); !s.ok()) return s;
  if (Status s = RequireAligned("weights", d.weights, d.weights_bf16 ? 2 : 4); !s.ok()) return s;
  if (Status s = RequireAligned("code_bytes", d.code_bytes, 1); !s.ok()) return s;
  if (Status s = RequireAligned("weights_out", d.weights_out, d.weights_out_bf16 ? 2 : 4); !s.ok()) return s;
  if (mxfp4) {
    if (Status s = RequireAligned("scales", d.scales, 1); !s.ok()) return s;
  }
  if (Status s = RequireRange("q_token_stride", d.q_token_stride, 0, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("q_head_stride", d.q_head_stride, 0, kMaxExtent); !s.ok()) return s;
  if (Status s = RequireRange("cos_sin_stride", d.cos_sin_stride, d.rope_head_dim, kMaxExtent); !s.ok()) return s;
  return RequireRange("weights_stride", d.weights_stride, 0, kMaxExtent);
}

}  // namespace kvexact::gpu
