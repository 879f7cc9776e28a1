// SPDX-License-Identifier: Apache-2.0
// The softmax-weighted mean of a column over the rows of a window (docs/numerics.md, "Weighted mean of a column").
#pragma once

#include "gpu/primitives/arithmetic.cuh"
#include "gpu/primitives/memory.cuh"
#include "reference/spec/strict_numerics.h"

namespace kvexact::gpu {

// The score of a row before position 0.
__device__ inline float4 MaskedScore() {
  const float inf = __int_as_float(0x7F800000);
  return make_float4(-inf, -inf, -inf, -inf);
}

// num and den of four columns.
struct Partial {
  float4 num;
  float4 den;
};

__device__ inline float4 Max(const float4& a, const float4& b) {
  return make_float4(fmaxf(a.x, b.x), fmaxf(a.y, b.y), fmaxf(a.z, b.z), fmaxf(a.w, b.w));
}

__device__ inline float4 Add(const float4& a, const float4& b) {
  return make_float4(__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y), __fadd_rn(a.z, b.z), __fadd_rn(a.w, b.w));
}

__device__ inline Partial Add(const Partial& a, const Partial& b) { return {Add(a.num, b.num), Add(a.den, b.den)}; }

template <class Arithmetic>
__device__ inline void AccumulateColumn(float score, float kv, float maximum, WeightConstants constants, float& num,
                                        float& den) {
  const float w = Arithmetic::Weight(__fsub_rn(score, maximum), constants);
  num = __fmaf_rn(w, kv, num);
  den = __fadd_rn(den, w);
}

// Adds one row to a partial.
template <class Arithmetic>
__device__ inline void Accumulate(const float4& score, const float4& kv, const float4& maximum,
                                  WeightConstants constants, Partial& partial) {
  AccumulateColumn<Arithmetic>(score.x, kv.x, maximum.x, constants, partial.num.x, partial.den.x);
  AccumulateColumn<Arithmetic>(score.y, kv.y, maximum.y, constants, partial.num.y, partial.den.y);
  AccumulateColumn<Arithmetic>(score.z, kv.z, maximum.z, constants, partial.num.z, partial.den.z);
  AccumulateColumn<Arithmetic>(score.w, kv.w, maximum.w, constants, partial.num.w, partial.den.w);
}

// The weights of four columns of a row.
template <class Arithmetic>
__device__ inline float4 Weights(const float4& score, const float4& maximum, WeightConstants constants) {
  return make_float4(Arithmetic::Weight(__fsub_rn(score.x, maximum.x), constants),
                     Arithmetic::Weight(__fsub_rn(score.y, maximum.y), constants),
                     Arithmetic::Weight(__fsub_rn(score.z, maximum.z), constants),
                     Arithmetic::Weight(__fsub_rn(score.w, maximum.w), constants));
}

// A partial of one row. A weight is never -0, so that the sum from +0 is the weight itself.
__device__ inline Partial Begin(const float4& weight, const float4& kv) {
  return {make_float4(__fmaf_rn(weight.x, kv.x, 0.0F), __fmaf_rn(weight.y, kv.y, 0.0F), __fmaf_rn(weight.z, kv.z, 0.0F),
                      __fmaf_rn(weight.w, kv.w, 0.0F)),
          weight};
}

template <class Arithmetic>
__device__ inline float4 Mean(const Partial& p) {
  return Arithmetic::Divide(p.num, p.den);
}

// Fold of the row partials by halves: j and j + 4, j and j + 2, j and j + 1.
__device__ inline Partial FoldRows(const Partial (&p)[spec::kRowPartials]) {
  static_assert(spec::kRowPartials == 8, "the folds below are written out");
  const Partial p0 = Add(p[0], p[4]);
  const Partial p1 = Add(p[1], p[5]);
  const Partial p2 = Add(p[2], p[6]);
  const Partial p3 = Add(p[3], p[7]);
  return Add(Add(p0, p2), Add(p1, p3));
}

// The mean over a window of exactly eight rows, one a partial. Weights come first: they need the scores alone, which
// were asked for before the KV rows. In the first window of a request the four earlier rows do not exist, whatever was
// loaded for them. `scores_known(maximum)` is called before the weights, and may load the KV rows; `refill(r)` when the
// registers of row r are free.
template <class Arithmetic, class ScoresKnown, class Refill>
__device__ inline float4 MeanOfEight(bool first_window, float4 (&score)[8], float4 (&kv)[8], ScoresKnown scores_known,
                                     Refill refill) {
  constexpr WeightConstants kWeights = WeightConstants::Of(8);
#pragma unroll
  for (int r = 0; r < 4; ++r) score[r] = first_window ? MaskedScore() : score[r];
  float4 maximum = score[0];
#pragma unroll
  for (int r = 1; r < 8; ++r) maximum = Max(maximum, score[r]);
  scores_known(maximum);
#pragma unroll
  for (int r = 0; r < 8; ++r) score[r] = Weights<Arithmetic>(score[r], maximum, kWeights);
  const auto take = [&](int r) {
    const bool masked = r < 4 && first_window;
    const Partial p = Begin(score[r], masked ? make_float4(0.0F, 0.0F, 0.0F, 0.0F) : kv[r]);
    refill(r);
    return p;
  };
  // The folds of FoldRows, each as soon as its operands are there: few partials live at a time.
  Partial p0 = take(0);
  p0 = Add(p0, take(4));
  Partial p2 = take(2);
  p0 = Add(p0, Add(p2, take(6)));
  Partial p1 = take(1);
  p1 = Add(p1, take(5));
  Partial p3 = take(3);
  p1 = Add(p1, Add(p3, take(7)));
  return Mean<Arithmetic>(Add(p0, p1));
}

}  // namespace kvexact::gpu
