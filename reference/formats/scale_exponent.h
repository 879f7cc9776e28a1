// SPDX-License-Identifier: Apache-2.0
// The power-of-two scale of a block from its absmax, by integer arithmetic on the bits.
#pragma once

#include <bit>
#include <cstdint>

#include "reference/spec/format.h"

namespace kvexact {

// F, the magnitude that a scaled block may reach: (1 + mantissa / 2^23) * 2^exponent.
struct ScaleDivisor {
  std::uint32_t mantissa;
  int exponent;
  int element_mantissa_bits;  // of the codes that F belongs to; kOcpEven asks for it
};

inline constexpr ScaleDivisor kDivisor448{0x600000, 8, spec::kE4M3Fn.mantissa_bits};    // E4M3FN
inline constexpr ScaleDivisor kDivisor224{0x600000, 7, spec::kE4M3Fnuz.mantissa_bits};  // E4M3FNUZ
inline constexpr ScaleDivisor kDivisor6{0x400000, 2, spec::kE2M1.mantissa_bits};        // E2M1

constexpr float ValueOf(const ScaleDivisor& divisor) {
  return std::bit_cast<float>((static_cast<std::uint32_t>(divisor.exponent + 127) << 23) | divisor.mantissa);
}
static_assert(ValueOf(kDivisor448) == 448.0F && ValueOf(kDivisor224) == 224.0F && ValueOf(kDivisor6) == 6.0F);

// Rules for the exponent e of the scale 2^e, all in exact arithmetic.
enum class ScaleRounding : std::uint8_t {
  kCeil,      // ceil(log2(A / F)): the smallest e with A <= F * 2^e; the model's rule
  kFloor,     // floor(log2(A / F))
  kNearest,   // log2(A / F) to the nearest integer (never a tie: A / F is rational)
  kOcpFloor,  // floor(log2 A) - floor(log2 F): OCP Microscaling specification 1.0, section 6.3
  kOcpCeil,   // ceil(log2 A) - floor(log2 F)
  kOcpEven,   // floor(log2 A') - floor(log2 F), A' = A with half a step of the element format added
};

// Exponents of A = infinity (and of a NaN) and of A = 0. PowerOfTwo turns them into infinity and 0.
inline constexpr int kInfiniteExponent = 1 << 20;
inline constexpr int kZeroExponent = -kInfiniteExponent;

// The exponent of the scale for an absmax `amax` >= +0 (the sign bit is ignored), subnormals included.
constexpr int ScaleExponent(float amax, const ScaleDivisor& divisor, ScaleRounding rounding) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(amax) & 0x7FFFFFFFU;
  if (bits >= 0x7F800000U) return kInfiniteExponent;
  if (bits == 0) return kZeroExponent;

  // amax = (1 + mantissa / 2^23) * 2^exponent.
  const int lift = bits < 0x800000U ? std::countl_zero(bits) - 8 : 0;
  const std::uint32_t mantissa = (bits << lift) & 0x7FFFFFU;
  const int exponent = (lift > 0 ? 1 - lift : static_cast<int>(bits >> 23)) - 127;
  const int difference = exponent - divisor.exponent;

  switch (rounding) {
    case ScaleRounding::kCeil:
      return difference + (mantissa > divisor.mantissa ? 1 : 0);
    case ScaleRounding::kFloor:
      return difference - (mantissa < divisor.mantissa ? 1 : 0);
    case ScaleRounding::kNearest: {
      // Significands of amax and F; their quotient q lies in (1/2, 2) and rounds up from sqrt(2) and
      // down from sqrt(1/2).
      const std::uint64_t a = mantissa | 0x800000U;
      const std::uint64_t f = divisor.mantissa | 0x800000U;
      if (a * a > 2 * f * f) return difference + 1;
      return difference - (2 * a * a < f * f ? 1 : 0);
    }
    case ScaleRounding::kOcpFloor:
      return difference;
    case ScaleRounding::kOcpCeil:
      return difference + (mantissa != 0 ? 1 : 0);
    case ScaleRounding::kOcpEven:
      return difference + (mantissa + (std::uint32_t{1} << (22 - divisor.element_mantissa_bits)) > 0x7FFFFFU ? 1 : 0);
  }
  return difference;
}

// The smallest e with amax <= F * 2^e.
constexpr int ScaleExponent(float amax, const ScaleDivisor& divisor) {
  return ScaleExponent(amax, divisor, ScaleRounding::kCeil);
}

// 2^e, with subnormals; 0 below 2^-149 and infinity above 2^127.
constexpr float PowerOfTwo(int e) {
  if (e > 127) return std::bit_cast<float>(0x7F800000U);
  if (e >= -126) return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
  return std::bit_cast<float>(e >= -149 ? std::uint32_t{1} << (e + 149) : 0U);
}

// UE8M0 byte of 2^e: exponents above 127 give 255 (the NaN), those below -127 give 0.
constexpr std::uint8_t Ue8m0Byte(int e) { return static_cast<std::uint8_t>(e < -127 ? 0 : e > 127 ? 255 : e + 127); }

// As Ue8m0Byte, but exponents above 127 give 254 (2^127): the clamp of MXFP4.
constexpr std::uint8_t Ue8m0FiniteByte(int e) {
  return static_cast<std::uint8_t>(e < -127 ? 0 : e > 127 ? 254 : e + 127);
}

static_assert(ScaleExponent(448.0F, kDivisor448) == 0 && ScaleExponent(0x1.C00002p8F, kDivisor448) == 1);
static_assert(ScaleExponent(1e-4F, kDivisor448) == -22 && Ue8m0Byte(-22) == 0x69);
static_assert(ScaleExponent(6.0F * 0x1p-126F, kDivisor6) == -126 && Ue8m0FiniteByte(-126) == 1);
static_assert(ScaleExponent(0x1p-149F, kDivisor448) == -157);
static_assert(PowerOfTwo(-kInfiniteExponent) == 0.0F && PowerOfTwo(-149) == 0x1p-149F);

}  // namespace kvexact
