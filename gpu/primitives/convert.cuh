// SPDX-License-Identifier: Apache-2.0
// Rounding to bf16, E4M3 and E2M1: hardware conversions where the target has them, integers elsewhere.
// Both give the same bytes for every input; NaN results are the canonical ones of docs/numerics.md.
#pragma once

#include <cstdint>

#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__) || defined(__CUDA_ARCH_SPECIFIC__)
#define KVEXACT_HAS_E2M1 1
#else
#define KVEXACT_HAS_E2M1 0
#endif

namespace kvexact::gpu {

// bf16 bits of `low` and `high` in the two halves, to nearest even; NaN is 0x7FFF.
__device__ inline std::uint32_t PackBf16(float low, float high) {
  std::uint32_t r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

__device__ inline float Bf16Low(std::uint32_t pair) { return __uint_as_float(pair << 16); }
__device__ inline float Bf16High(std::uint32_t pair) { return __uint_as_float(pair & 0xFFFF0000U); }

// The larger of each half; a NaN loses against a number.
__device__ inline std::uint32_t MaxBf16(std::uint32_t a, std::uint32_t b) {
  std::uint32_t r;
  asm("max.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// The larger of each half; NaN if either is NaN.
__device__ inline std::uint32_t MaxOrNanBf16(std::uint32_t a, std::uint32_t b) {
  std::uint32_t r;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}

// The larger magnitude of each half, with any sign; a NaN loses against a number.
__device__ inline std::uint32_t MaxMagnitudeBf16(std::uint32_t a, std::uint32_t b) {
  std::uint32_t r;
#if __CUDA_ARCH__ >= 860
  asm("max.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
  asm("{\n.reg .b32 x, y;\nabs.bf16x2 x, %1;\nabs.bf16x2 y, %2;\nmax.bf16x2 %0, x, y;\n}" : "=r"(r) : "r"(a), "r"(b));
#endif
  return r;
}

// The same, NaN if either is NaN.
__device__ inline std::uint32_t MaxMagnitudeOrNanBf16(std::uint32_t a, std::uint32_t b) {
  std::uint32_t r;
#if __CUDA_ARCH__ >= 860
  asm("max.NaN.xorsign.abs.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
#else
  asm("{\n.reg .b32 x, y;\nabs.bf16x2 x, %1;\nabs.bf16x2 y, %2;\nmax.NaN.bf16x2 %0, x, y;\n}"
      : "=r"(r)
      : "r"(a), "r"(b));
#endif
  return r;
}

__device__ inline std::uint32_t AbsBf16(std::uint32_t pair) { return pair & 0x7FFF7FFFU; }

// Each half times the bf16 value `scale`, rounded to bf16.
__device__ inline std::uint32_t ScaleBf16(std::uint32_t pair, std::uint32_t scale) {
  std::uint32_t r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(pair), "r"(scale), "r"(0x80008000U));  // + -0 keeps the product
  return r;
}

// E4M3FN code, integers only: to nearest even, saturating at 448; NaN is 0x7F.
__device__ inline std::uint32_t E4m3Integer(float x) {
  const std::uint32_t bits = __float_as_uint(x);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return 0x7FU;
  // 2^-120 moves the smallest normal code, 2^-6, to the smallest normal float: codes and float bits then
  // share their exponent field, subnormals included.
  const float moved = __fmul_rn(fminf(__uint_as_float(magnitude), 448.0F), 0x1p-120F);
  const std::uint32_t b = __float_as_uint(moved);
  return ((b + 0x7FFFFU + ((b >> 20) & 1U)) >> 20) | (bits >> 31 << 7);
}

// E4M3FNUZ code: bias 8, saturating at 240, no negative zero; NaN is 0x80.
__device__ inline std::uint32_t E4m3FnuzInteger(float x) {
  const std::uint32_t bits = __float_as_uint(x);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return 0x80U;
  const float moved = __fmul_rn(fminf(__uint_as_float(magnitude), 240.0F), 0x1p-119F);
  const std::uint32_t b = __float_as_uint(moved);
  const std::uint32_t code = (b + 0x7FFFFU + ((b >> 20) & 1U)) >> 20;
  return code == 0 ? 0U : code | (bits >> 31 << 7);
}

// Two E4M3FN codes, `low` in the low byte.
__device__ inline std::uint32_t PackE4m3(float low, float high) {
#if __CUDA_ARCH__ >= 890
  std::uint16_t r;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
  return r;
#else
  return E4m3Integer(low) | E4m3Integer(high) << 8;
#endif
}

__device__ inline std::uint32_t PackE4m3(float a, float b, float c, float d) {
  return PackE4m3(a, b) | PackE4m3(c, d) << 16;
}

#if KVEXACT_HAS_E2M1
// Two E2M1 codes, `low` in the low nibble: to nearest even, saturating at 6; NaN is nibble 7.
__device__ inline std::uint32_t PackE2m1(float low, float high) {
  std::uint32_t r;
  asm("{\n.reg .b8 b;\ncvt.rn.satfinite.e2m1x2.f32 b, %1, %2;\ncvt.u32.u8 %0, b;\n}" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
#endif

// Eight E2M1 codes: those of low * low_scale in the low half, of high * high_scale in the high half, the first element
// in the lowest nibble; to nearest even, saturating at 6, NaN is nibble 7. Elements are bf16 values, scales powers of
// two.
__device__ inline std::uint32_t PackE2m1(const float (&low)[4], float low_scale, const float (&high)[4],
                                         float high_scale) {
#if KVEXACT_HAS_E2M1
  return PackE2m1(__fmul_rn(low[0], low_scale), __fmul_rn(low[1], low_scale)) |
         PackE2m1(__fmul_rn(low[2], low_scale), __fmul_rn(low[3], low_scale)) << 8 |
         PackE2m1(__fmul_rn(high[0], high_scale), __fmul_rn(high[1], high_scale)) << 16 |
         PackE2m1(__fmul_rn(high[2], high_scale), __fmul_rn(high[3], high_scale)) << 24;
#else
  // In fp16 units of 2^-14 codes and half bits share their exponent field. The conversion is exact wherever rounding to
  // a code looks: values of 1/8 and more keep their 8 bits, smaller ones stay below the first tie, 1/4. NaN is 0x7FFF.
  const float low_unit = __fmul_rn(low_scale, 0x1p-14F);
  const float high_unit = __fmul_rn(high_scale, 0x1p-14F);
  std::uint32_t codes = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t h;
    std::uint32_t m;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;"
        : "=r"(h)
        : "f"(__fmul_rn(high[i], high_unit)), "f"(__fmul_rn(low[i], low_unit)));
    asm("{\n.reg .b32 x;\nabs.f16x2 x, %1;\nmin.f16x2 %0, x, %2;\n}"
        : "=r"(m)
        : "r"(h), "r"(0x0E000E00U));  // 6 units; NaN gives 6
    const std::uint32_t rounded = m + 0x00FF00FFU + (m >> 9 & 0x00010001U);
    const std::uint32_t magnitude = i < 3 ? rounded >> (9 - 4 * i) : rounded << (4 * i - 9);
    const std::uint32_t sign = h >> (12 - 4 * i);
    codes |= (magnitude & 0x00070007U << (4 * i)) | (sign & 0x00080008U << (4 * i));
  }
  return codes;
#endif
}

// The upper half of `pair` times that of `scale`, as a float. The lower half of `scale` is +0 and `pair` is finite: the
// lower halves then give +0. One instruction of the multiplication pipe, where masking would take one of the busier
// integer pipe. `negative_zero_high` is a bf16 -0 above a +0.
__device__ inline float ScaledHigh(std::uint32_t pair, std::uint32_t scale, std::uint32_t negative_zero_high) {
  std::uint32_t r;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(pair), "r"(scale), "r"(negative_zero_high));
  return __uint_as_float(r);
}

// Bits of `a` where `mask` has ones, of `b` elsewhere.
__device__ inline std::uint32_t Select(std::uint32_t mask, std::uint32_t a, std::uint32_t b) {
  return (a & mask) | (b & ~mask);
}

// As PackE2m1 for finite elements whose scaled magnitude is at most 6. `low` and `high` hold four bf16 elements;
// `low_unit` and `high_unit` are the two scales times 2^-14, normal bf16 values, in the upper halves of their words.
__device__ inline std::uint32_t PackFiniteE2m1(const uint2& low, const uint2& high, std::uint32_t low_unit,
                                               std::uint32_t high_unit, std::uint32_t negative_zero_high) {
  const float l[4] = {
      __fmul_rn(Bf16Low(low.x), __uint_as_float(low_unit)), ScaledHigh(low.x, low_unit, negative_zero_high),
      __fmul_rn(Bf16Low(low.y), __uint_as_float(low_unit)), ScaledHigh(low.y, low_unit, negative_zero_high)};
  const float h[4] = {
      __fmul_rn(Bf16Low(high.x), __uint_as_float(high_unit)), ScaledHigh(high.x, high_unit, negative_zero_high),
      __fmul_rn(Bf16Low(high.y), __uint_as_float(high_unit)), ScaledHigh(high.y, high_unit, negative_zero_high)};
  std::uint32_t rounded[4];  // fp16 bits: the code at bits 9 to 11, the sign at bit 15
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    std::uint32_t x;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(x) : "f"(h[i]), "f"(l[i]));
    rounded[i] = x + 0x00FF00FFU + (x >> 9 & 0x00010001U);
  }
  // The upper bytes of elements 0 and 2, and of 1 and 3: s000ccc-. They become the low and the high nibbles.
  const std::uint32_t even = __byte_perm(rounded[0], rounded[2], 0x7351);
  const std::uint32_t odd = __byte_perm(rounded[1], rounded[3], 0x7351);
  const std::uint32_t low_nibbles = Select(0x07070707U, even >> 1, even >> 4);
  const std::uint32_t high_nibbles = Select(0x70707070U, odd << 3, odd);
  return Select(0x0F0F0F0FU, low_nibbles, high_nibbles);
}

}  // namespace kvexact::gpu
