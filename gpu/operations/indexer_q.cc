// SPDX-License-Identifier: Apache-2.0
#include "gpu/operations/indexer_q.h"

#include "gpu/operations/checks.h"
#include "gpu/operations/launch.h"

namespace kvexact::gpu {
namespace {

QFormat FormatOf(QCodes codes) {
  switch (codes) {
    case QCodes::kE4m3Fn:
      return QFormat::kE4m3Fn;
    case QCodes::kE4m3Fnuz:
      return QFormat::kE4m3Fnuz;
    case QCodes::kE2m1:
      break;
  }
  return QFormat::kE2m1;
}

// Rows of Q and of the table at multiples of 16 bytes, codes at multiples of 8.
bool Production(const IndexerQDescription& d) {
  return d.rope_head_dim == 64 && !d.cos_sin_bf16 && d.codes != QCodes::kE4m3Fnuz && d.heads % 8 == 0 &&
         Address(d.q) % 16 == 0 && d.q_token_stride % 8 == 0 && d.q_head_stride % 8 == 0 &&
         Address(d.code_bytes) % 8 == 0 && Address(d.cos_sin) % 16 == 0 && d.cos_sin_stride % 4 == 0;
}

}  // namespace

Status Launch(const IndexerQDescription& d, cudaStream_t stream) {
  if (Status s = Check(d); !s.ok() || d.tokens == 0 || d.heads == 0) return s;
  Machine machine;
  if (Status s = ThisMachine(machine); !s.ok()) return s;
  return Launch(d, machine, stream);
}

Status Launch(const IndexerQDescription& d, const Machine& machine, cudaStream_t stream) {
  if (Status s = Check(d); !s.ok() || d.tokens == 0 || d.heads == 0) return s;
  IndexerQArguments a{};
  a.q = d.q;
  a.q_token_stride = d.q_token_stride;
  a.q_head_stride = d.q_head_stride;
  a.positions = d.positions;
  a.cos_sin = d.cos_sin;
  a.cos_sin_stride = d.cos_sin_stride;
  a.cos_sin_bf16 = d.cos_sin_bf16;
  a.rope_dim = d.rope_head_dim;
  a.weights = d.weights;
  a.weights_stride = d.weights_stride;
  a.weights_bf16 = d.weights_bf16;
  a.codes = d.code_bytes;
  a.scales = d.scales;
  a.weights_out = d.weights_out;
  a.weights_out_bf16 = d.weights_out_bf16;
  a.tokens = d.tokens;
  a.heads = d.heads;
  a.softmax_scale = d.softmax_scale;
  a.head_scale = d.head_scale;
  a.negative_zero_high = 0x80000000U;
  a.q_aligned = Address(d.q) % 16 == 0 && d.q_token_stride % 8 == 0 && d.q_head_stride % 8 == 0;
  a.codes_aligned = Address(d.code_bytes) % 4 == 0;
  if (Production(d)) return FromCuda(LaunchIndexerQ(a, FormatOf(d.codes), machine, stream));
  return FromCuda(LaunchIndexerQAny(a, FormatOf(d.codes), stream));
}

}  // namespace kvexact::gpu
