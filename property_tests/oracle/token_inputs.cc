// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/token_inputs.h"

#include <bit>
#include <limits>

namespace kvexact::oracle {
namespace {

const Tensor& Input(const Case& c, const char* name) { return c.inputs.at(name); }

float FromBf16(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

// Element i of a tensor of fp32 or bf16.
float Real(const Tensor& t, std::int64_t i) {
  return t.dtype() == DType::kBf16 ? FromBf16(t.as<std::uint16_t>()[i]) : t.as<float>()[i];
}

void ReadCosSin(const Tensor& table, std::int64_t position, int rope_dim, std::vector<float>& cos,
                std::vector<float>& sin) {
  const std::int64_t base = position * table.dim(1);
  for (int i = 0; i < rope_dim / 2; ++i) {
    cos.push_back(Real(table, base + i));
    sin.push_back(Real(table, base + rope_dim / 2 + i));
  }
}

}  // namespace

Exit ExitOf(const Case& c, std::int64_t token) {
  if (token >= c.params.num_actual) return Exit::kInert;
  if (c.row().family == spec::Family::kIndexerQ) return Exit::kNone;
  if (Input(c, "slot_mapping").as<std::int64_t>()[token] < 0) return Exit::kNegativeSlot;
  const std::int64_t position = Input(c, "positions").as<std::int64_t>()[token];
  if ((position + 1) % c.params.compress_ratio != 0) return Exit::kNotABoundary;
  if (c.op == spec::Operation::kGatherSplit) return Exit::kNone;
  return Input(c, "kv_slot_mapping").as<std::int64_t>()[token] < 0 ? Exit::kNegativeKvSlot : Exit::kNone;
}

CompressToken GatherToken(const Case& c, std::int64_t token) {
  const Params& p = c.params;
  CompressToken out;
  out.op = c.op;
  out.head_dim = static_cast<int>(p.head_dim);
  out.rope_dim = static_cast<int>(p.rope_head_dim);
  out.eps = static_cast<float>(p.rms_norm_eps);
  out.position = Input(c, "positions").as<std::int64_t>()[token];
  const auto head = static_cast<std::size_t>(p.head_dim);

  if (c.op == spec::Operation::kFinalize) {
    const Tensor& scratch = Input(c, "scratch");
    for (std::size_t d = 0; d < head; ++d) {
      out.ready_columns.push_back(scratch.as<float>()[token * scratch.dim(1) + static_cast<std::int64_t>(d)]);
    }
  } else {
    const Tensor& state = Input(c, "state_cache");
    const Tensor& table = Input(c, "block_table");
    const std::int64_t request = Input(c, "token_to_req_indices").as<std::int32_t>()[token];
    out.rows = static_cast<int>(p.overlap ? 2 * p.compress_ratio : p.compress_ratio);
    out.score.assign(static_cast<std::size_t>(out.rows) * head, -std::numeric_limits<float>::infinity());
    out.kv.assign(static_cast<std::size_t>(out.rows) * head, 0.0F);
    const std::int64_t oldest = out.position - out.rows + 1;
    for (int r = 0; r < out.rows; ++r) {
      const std::int64_t at = oldest + r;
      if (at < 0) continue;
      const std::int64_t block = table.as<std::int32_t>()[request * table.dim(1) + at / p.block_size];
      const float* row = state.as<float>() + block * state.dim(1) + (at % p.block_size) * p.state_row_stride;
      if (r >= p.compress_ratio) row += p.head_dim;
      for (std::size_t d = 0; d < head; ++d) {
        out.kv[static_cast<std::size_t>(r) * head + d] = row[d];
        out.score[static_cast<std::size_t>(r) * head + d] = row[static_cast<std::size_t>(p.state_width) + d];
      }
    }
  }
  if (c.op == spec::Operation::kGatherSplit) return out;

  const Tensor& weight = Input(c, "rms_norm_weight");
  for (std::size_t d = 0; d < head; ++d) out.norm_weight.push_back(Real(weight, static_cast<std::int64_t>(d)));
  ReadCosSin(Input(c, "cos_sin_cache"), out.position - out.position % p.compress_ratio, out.rope_dim, out.cos, out.sin);
  out.kv_slot = Input(c, "kv_slot_mapping").as<std::int64_t>()[token];
  return out;
}

QHead GatherQHead(const Case& c, std::int64_t token, std::int64_t head) {
  const Params& p = c.params;
  const Tensor& q = Input(c, "index_q");
  const Tensor& weights = Input(c, "index_weights");
  const std::int64_t heads = q.dim(1);
  QHead out;
  out.kind = c.op == spec::Operation::kIndexerQMxfp4 ? QKind::kMxfp4 : p.q_fnuz ? QKind::kFp8Fnuz : QKind::kFp8;
  out.head_dim = static_cast<int>(p.head_dim);
  out.rope_dim = static_cast<int>(p.rope_head_dim);
  for (std::int64_t d = 0; d < p.head_dim; ++d) out.q.push_back(Real(q, (token * heads + head) * p.head_dim + d));
  ReadCosSin(Input(c, "cos_sin_cache"), Input(c, "positions").as<std::int64_t>()[token], out.rope_dim, out.cos,
             out.sin);
  out.weight = Real(weights, token * weights.dim(1) + head);
  out.softmax_scale = static_cast<float>(p.softmax_scale);
  out.head_scale = static_cast<float>(p.head_scale);
  out.weight_out_bf16 = c.outputs_before.at("weights_out").dtype() == DType::kBf16;
  return out;
}

}  // namespace kvexact::oracle
