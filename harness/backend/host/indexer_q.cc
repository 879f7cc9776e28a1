// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/host/indexer_q.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/backend/host/bf16.h"
#include "harness/backend/host/block_scale.h"
#include "harness/backend/host/canonical_nan.h"
#include "harness/backend/host/fp4.h"
#include "harness/backend/host/fp8.h"
#include "harness/backend/host/parallel_for.h"
#include "harness/backend/host/rope.h"

namespace kvexact::host {
namespace {

constexpr int kMxfp4Block = 32;
constexpr std::int64_t kInlineElements = 1 << 17;

// A row of Q in fp32, its last rope_head_dim values rotated and rounded to bf16.
std::vector<float> RotatedHead(const IndexerQInputs& in, std::int64_t token, std::int64_t row) {
  const std::uint16_t* bits = in.q.data() + row * in.q.outerStride();
  std::vector<float> x(static_cast<std::size_t>(in.head_dim));
  std::transform(bits, bits + in.head_dim, x.begin(), FromBf16);
  float* rope = x.data() + in.head_dim - in.rope_head_dim;
  Rotate(rope, in.cos_sin.data() + in.positions[token] * in.cos_sin.outerStride(), in.rope_head_dim / 2);
  std::transform(rope, x.data() + in.head_dim, rope, RoundToBf16);
  return x;
}

// Codes of the head as FP8; returns the scale.
float QuantiseFp8(const std::vector<float>& x, QCodes codes, std::uint8_t* to) {
  const bool fnuz = codes == QCodes::kE4M3Fnuz;
  const float amax = AbsMax(x.data(), static_cast<int>(x.size()), 1e-4F);
  const float scale = Pow2(CeilLog2(amax / (fnuz ? 224.0F : 448.0F)));
  std::transform(x.begin(), x.end(), to,
                 [&](float value) { return fnuz ? EncodeE4M3Fnuz(value / scale) : EncodeE4M3Fn(value / scale); });
  return scale;
}

void QuantiseMxfp4(const std::vector<float>& x, std::uint8_t* packed, std::uint8_t* scales) {
  const int blocks = static_cast<int>(x.size()) / kMxfp4Block;
  for (int b = 0; b < blocks; ++b) {
    const float* block = x.data() + b * kMxfp4Block;
    const float amax = AbsMax(block, kMxfp4Block, 6.0F * 0x1p-126F);
    const float exponent = std::clamp(CeilLog2(amax * (1.0F / 6.0F)), -127.0F, 127.0F);
    const float inverse = 1.0F / Pow2(exponent);
    scales[b] = Ue8m0(exponent);
    for (int i = 0; i < kMxfp4Block; i += 2) *packed++ = PackE2M1(block[i] * inverse, block[i + 1] * inverse);
  }
}

void StoreWeight(float weight, bool as_bf16, void* weights, std::int64_t row) {
  if (as_bf16) {
    static_cast<std::uint16_t*>(weights)[row] = ToBf16(weight);
  } else {
    static_cast<float*>(weights)[row] = CanonicalNan(weight);
  }
}

}  // namespace

void IndexerQ(const IndexerQInputs& in, const IndexerQOutputs& out, int threads) {
  const std::int64_t rows = in.num_actual * in.heads;
  const int workers = rows * in.head_dim < kInlineElements ? 1 : threads;
  ParallelFor(rows, in.heads, workers, [&](std::int64_t row) {
    const std::int64_t token = row / in.heads;
    const std::vector<float> x = RotatedHead(in, token, row);
    float weight = in.weights(token, row % in.heads);
    if (in.codes == QCodes::kE2M1) {
      QuantiseMxfp4(x, out.codes + row * (in.head_dim / 2), out.scales + row * (in.head_dim / kMxfp4Block));
    } else {
      weight *= QuantiseFp8(x, in.codes, out.codes + row * in.head_dim);
    }
    StoreWeight(weight * in.softmax_scale * in.head_scale, in.weights_out_bf16, out.weights, row);
  });
}

}  // namespace kvexact::host
