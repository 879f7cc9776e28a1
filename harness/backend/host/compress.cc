// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/host/compress.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/backend/host/bf16.h"
#include "harness/backend/host/canonical_nan.h"
#include "harness/backend/host/compress_window.h"
#include "harness/backend/host/kv_store.h"
#include "harness/backend/host/norm.h"
#include "harness/backend/host/parallel_for.h"
#include "harness/backend/host/rope.h"

namespace kvexact::host {
namespace {

constexpr std::int64_t kTokenGrain = 8;
constexpr std::int64_t kInlineElements = 1 << 17;  // below it, starting threads costs more than it saves
constexpr std::int64_t kTwoStageSplits = 4;

int ThreadsFor(std::int64_t elements, int threads) { return elements < kInlineElements ? 1 : threads; }

bool Stores(const CompressInputs& in, std::int64_t token) {
  return AtBoundary(in, token) && in.kv_slot_mapping[token] >= 0;
}

const float* TableRow(const CompressInputs& in, std::int64_t token) {
  const std::int64_t window_start = in.positions[token] / in.ratio * in.ratio;
  return in.cos_sin.data() + window_start * in.cos_sin.outerStride();
}

// Head with a RoPE area: quantises the unrotated values, rotates the rest in fp32.
void StoreSplitHead(const CompressInputs& in, std::int64_t token, const spec::Layout& layout, const TokenArea& area,
                    std::vector<float>& normed) {
  const std::int64_t nope = in.head_dim - in.rope_head_dim;
  float* rope = normed.data() + nope;
  Rotate(rope, TableRow(in, token), in.rope_head_dim / 2);
  StoreRope(rope, in.rope_head_dim, area);
  std::transform(normed.data(), rope, normed.data(), RoundToBf16);
  StoreQuantised(normed.data(), layout, area);
}

// Head without one: rotates, then quantises everything.
void StoreWholeHead(const CompressInputs& in, std::int64_t token, const spec::Layout& layout, const TokenArea& area,
                    std::vector<float>& normed) {
  const std::int64_t nope = in.head_dim - in.rope_head_dim;
  RotateByZero(normed.data(), nope / 2);
  Rotate(normed.data() + nope, TableRow(in, token), in.rope_head_dim / 2);
  std::transform(normed.begin(), normed.end(), normed.begin(), RoundToBf16);
  StoreQuantised(normed.data(), layout, area);
}

// Norm, RoPE, quantisation and store of a token at a boundary with a KV slot, from its compressed row.
void FinishToken(const CompressInputs& in, const CompressOutputs& out, std::int64_t token,
                 std::vector<float>& compressed) {
  RmsNorm(compressed.data(), in.norm_weight.data(), in.head_dim, in.rms_norm_eps);
  const spec::Layout& layout = out.cache.layout;
  const TokenArea area = AreaOf(out.cache, out.cache_bytes, in.kv_slot_mapping[token]);
  if (layout.rope_values > 0) {
    StoreSplitHead(in, token, layout, area, compressed);
  } else {
    StoreWholeHead(in, token, layout, area, compressed);
  }
}

void SinglePassRange(const CompressInputs& in, const CompressOutputs& out, std::int64_t tokens, int threads) {
  const std::int64_t elements = tokens / in.ratio * in.window_rows() * in.head_dim;
  ParallelFor(tokens, kTokenGrain, ThreadsFor(elements, threads), [&](std::int64_t token) {
    if (!Stores(in, token)) return;
    std::vector<float> row(static_cast<std::size_t>(in.head_dim));
    CompressWindow(in, token, 0, in.head_dim, row.data());
    FinishToken(in, out, token, row);
  });
}

// Scratch row of token t: scratch + (t - first) * stride.
void GatherRange(const CompressInputs& in, std::int64_t first, std::int64_t splits, float* scratch, std::int64_t stride,
                 int threads) {
  const std::int64_t tokens = in.num_actual - first;
  const std::int64_t tile = in.head_dim / splits;
  const std::int64_t elements = tokens / in.ratio * in.window_rows() * in.head_dim;
  ParallelFor(tokens * splits, splits, ThreadsFor(elements, threads), [&](std::int64_t item) {
    const std::int64_t row = item / splits;
    const std::int64_t column = item % splits * tile;
    if (!AtBoundary(in, first + row)) return;
    float* out = scratch + row * stride + column;
    CompressWindow(in, first + row, column, column + tile, out);
    std::transform(out, out + tile, out, CanonicalNan);
  });
}

void FinalizeRange(const CompressInputs& in, const CompressOutputs& out, std::int64_t first, const float* scratch,
                   std::int64_t stride, int threads) {
  const std::int64_t tokens = in.num_actual - first;
  const std::int64_t elements = tokens / in.ratio * in.head_dim;
  ParallelFor(tokens, kTokenGrain, ThreadsFor(elements, threads), [&](std::int64_t row) {
    if (!Stores(in, first + row)) return;
    const float* compressed = scratch + row * stride;
    std::vector<float> copy(compressed, compressed + in.head_dim);
    FinishToken(in, out, first + row, copy);
  });
}

}  // namespace

void SinglePass(const CompressInputs& in, const CompressOutputs& out, int threads) {
  SinglePassRange(in, out, in.num_actual, threads);
}

void GatherSplit(const CompressInputs& in, const CompressOutputs& out, int threads) {
  GatherRange(in, 0, in.num_splits, out.scratch, out.scratch_stride, threads);
}

void Finalize(const CompressInputs& in, const CompressOutputs& out, int threads) {
  FinalizeRange(in, out, 0, in.scratch.data(), in.scratch.outerStride(), threads);
}

void TwoStage(const CompressInputs& in, const CompressOutputs& out, int threads) {
  const std::int64_t decodes = std::clamp<std::int64_t>(in.num_decode_tokens, 0, in.num_actual);
  std::vector<float> scratch(static_cast<std::size_t>((in.num_actual - decodes) * in.head_dim));
  GatherRange(in, decodes, kTwoStageSplits, scratch.data(), in.head_dim, threads);
  FinalizeRange(in, out, decodes, scratch.data(), in.head_dim, threads);
  SinglePassRange(in, out, decodes, threads);
}

}  // namespace kvexact::host
