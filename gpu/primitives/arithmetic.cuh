// SPDX-License-Identifier: Apache-2.0
// The arithmetic that kernels are instantiated with. Compile with --fmad=false: fma stands where it is meant.
#pragma once

#include <cstdint>

#include "reference/spec/strict_numerics.h"

namespace kvexact::gpu {

// What a weight depends on besides its score: functions of the number of rows of the window.
struct WeightConstants {
  float magic;   // RoundToInteger
  float cutoff;  // WeightCutoff

  static constexpr WeightConstants Of(std::int64_t rows) {
    const int shift = spec::WeightShift(rows);
    return {spec::RoundToInteger(shift), spec::WeightCutoff(shift)};
  }
};

// docs/numerics.md to the last bit: IEEE-754 binary32 operations only.
struct Strict {
  // e^d * 2^-k for d = score - maximum <= 0; +0 at and below the cutoff, NaN for NaN.
  __device__ static float Weight(float d, WeightConstants constants) {
    asm("max.NaN.f32 %0, %0, %1;" : "+f"(d) : "f"(constants.cutoff));
    const float z = __fmaf_rn(d, spec::kLog2E, constants.magic);
    const float f = __fmaf_rn(d, spec::kLog2E, -__fsub_rn(z, constants.magic));
    // Named, since device code cannot index a host array.
    static_assert(spec::kExp2Degree == 6);
    constexpr float c0 = spec::kExp2Polynomial[0], c1 = spec::kExp2Polynomial[1], c2 = spec::kExp2Polynomial[2],
                    c3 = spec::kExp2Polynomial[3], c4 = spec::kExp2Polynomial[4], c5 = spec::kExp2Polynomial[5],
                    c6 = spec::kExp2Polynomial[6];
    float q = __fmaf_rn(c6, f, c5);
    q = __fmaf_rn(q, f, c4);
    q = __fmaf_rn(q, f, c3);
    q = __fmaf_rn(q, f, c2);
    q = __fmaf_rn(q, f, c1);
    q = __fmaf_rn(q, f, c0);
    return __fmul_rn(q, __uint_as_float(__float_as_uint(z) << 23));
  }

  // The quotients num / den of four columns, correctly rounded. A weight sum is near one or NaN, so one test of
  // the numerators is enough to know that nothing under- or overflows in the usual refinement; otherwise __fdiv_rn.
  __device__ static float4 Divide(const float4& num, const float4& den) {
    const float largest = fmaxf(fmaxf(fabsf(num.x), fabsf(num.y)), fmaxf(fabsf(num.z), fabsf(num.w)));
    const float smallest = fminf(fminf(fabsf(num.x), fabsf(num.y)), fminf(fabsf(num.z), fabsf(num.w)));
    if (largest < 0x1p100F && smallest > 0x1p-80F) {
      return make_float4(Quotient(num.x, den.x), Quotient(num.y, den.y), Quotient(num.z, den.z),
                         Quotient(num.w, den.w));
    }
    return make_float4(__fdiv_rn(num.x, den.x), __fdiv_rn(num.y, den.y), __fdiv_rn(num.z, den.z),
                       __fdiv_rn(num.w, den.w));
  }
  __device__ static float Divide(float num, float den) {
    return fabsf(num) < 0x1p100F && fabsf(num) > 0x1p-80F ? Quotient(num, den) : __fdiv_rn(num, den);
  }
  __device__ static float ReciprocalRoot(float v) { return __frcp_rn(__fsqrt_rn(v)); }

 private:
  // n / d by a refined reciprocal and two residuals, the sequence behind __fdiv_rn where exponents are moderate.
  __device__ static float Quotient(float n, float d) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(d));
    y = __fmaf_rn(__fmaf_rn(-d, y, 1.0F), y, y);
    float q = __fmul_rn(n, y);
    q = __fmaf_rn(__fmaf_rn(-d, q, n), y, q);
    return __fmaf_rn(__fmaf_rn(-d, q, n), y, q);
  }
};

}  // namespace kvexact::gpu
