// SPDX-License-Identifier: Apache-2.0
#include "property_tests/oracle/stored.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kvexact::oracle {
namespace {

constexpr std::uint16_t kBf16Nan = 0x7FFF;

bool Bf16IsNan(std::uint16_t x) { return (x & 0x7FFFU) > 0x7F80U; }
bool Bf16IsInf(std::uint16_t x) { return (x & 0x7FFFU) == 0x7F80U; }

// A non-negative dyadic number m * 2^k.
struct Dyadic {
  std::uint64_t m;
  int k;
};

Dyadic MagnitudeOfBf16(std::uint16_t x) {
  const int field = (x >> 7) & 0xFF;
  const std::uint64_t mantissa = x & 0x7FU;
  return field == 0 ? Dyadic{mantissa, -133} : Dyadic{mantissa | 0x80U, field - 134};
}

bool LessEqual(Dyadic a, Dyadic b) {
  if (a.m == 0) return true;
  if (b.m == 0) return false;
  const int shift = a.k - b.k;
  if (shift >= 0) return shift < 32 && a.m << shift <= b.m;
  return -shift >= 32 || a.m <= b.m << -shift;
}

struct CodeRow {
  int mantissa_bits;
  int first_exponent;  // of the lowest normal binade
  std::uint8_t largest;
  int sign_bit;
  Dyadic divisor;
  Dyadic floor;
};

// fp32(1e-4) is 0xD1B717 * 2^-37.
constexpr Dyadic kFp8Floor{0xD1B717, -37};

CodeRow RowOf(BlockCode code) {
  switch (code) {
    case BlockCode::kCompressE4M3:
    case BlockCode::kQE4M3:
      return {3, -6, 0x7E, 7, {7, 6}, kFp8Floor};
    case BlockCode::kQE4M3Fnuz:
      return {3, -7, 0x7F, 7, {7, 5}, kFp8Floor};
    case BlockCode::kE2M1:
      return {1, 0, 0x7, 3, {3, 1}, {3, -125}};
  }
  return {};
}

std::uint8_t NanOf(BlockCode code) {
  switch (code) {
    case BlockCode::kCompressE4M3:
      return 0x7E;
    case BlockCode::kQE4M3:
      return 0x7F;
    case BlockCode::kQE4M3Fnuz:
      return 0x80;
    case BlockCode::kE2M1:
      return 0x7;
  }
  return 0;
}

// Smallest e with a <= divisor * 2^e.
int ExponentOf(Dyadic a, Dyadic divisor) {
  int e = a.k + static_cast<int>(std::bit_width(a.m)) - divisor.k - static_cast<int>(std::bit_width(divisor.m)) - 1;
  while (!LessEqual(a, {divisor.m, divisor.k + e})) ++e;
  return e;
}

// Nearest even, saturating at the largest code.
std::uint8_t RoundToCode(Dyadic x, const CodeRow& row) {
  if (x.m == 0) return 0;
  const int binade = std::max(x.k + static_cast<int>(std::bit_width(x.m)) - 1, row.first_exponent);
  const int drop = binade - row.mantissa_bits - x.k;  // low bits that do not fit
  std::uint64_t n = 0;
  if (drop <= 0) {
    n = x.m << -drop;
  } else if (drop < 40) {
    const std::uint64_t half = std::uint64_t{1} << (drop - 1);
    const std::uint64_t rest = x.m & (2 * half - 1);
    n = x.m >> drop;
    if (rest > half || (rest == half && (n & 1U) != 0)) ++n;
  }
  const std::int64_t code =
      (static_cast<std::int64_t>(binade - row.first_exponent) << row.mantissa_bits) + static_cast<std::int64_t>(n);
  return static_cast<std::uint8_t>(std::min<std::int64_t>(code, row.largest));
}

}  // namespace

std::uint16_t Bf16Of(const Wide& x) {
  if (x.IsNan()) return kBf16Nan;
  const auto sign = static_cast<std::uint16_t>(x.IsNegative() ? 0x8000U : 0U);
  if (x.IsInf()) return sign | 0x7F80U;
  if (x.IsZero()) return sign;
  const long binade = std::max(x.Exponent(), -126L);
  Wide n = Abs(Scale(x, 7 - binade));
  mpfr_roundeven(n.raw(), n.raw());
  const std::int64_t code = (static_cast<std::int64_t>(binade + 126) << 7) + mpfr_get_si(n.raw(), MPFR_RNDN);
  return sign | static_cast<std::uint16_t>(std::min<std::int64_t>(code, 0x7F80));
}

std::uint16_t Bf16Of(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return kBf16Nan;
  const std::uint32_t low = bits & 0xFFFFU;
  std::uint32_t high = bits >> 16;
  if (low > 0x8000U || (low == 0x8000U && (high & 1U) != 0)) ++high;
  return static_cast<std::uint16_t>(high);
}

float Fp32Of(const Wide& x) {
  if (!x.IsFinite() || x.IsZero()) return mpfr_get_flt(x.raw(), MPFR_RNDN);
  const long binade = std::max(x.Exponent(), -126L);
  Wide n = Scale(x, 23 - binade);
  mpfr_roundeven(n.raw(), n.raw());
  if (binade > 127) return x.IsNegative() ? -HUGE_VALF : HUGE_VALF;
  const float zero = x.IsNegative() ? -0.0F : 0.0F;
  return n.IsZero() ? zero : std::ldexp(static_cast<float>(n.ToDouble()), static_cast<int>(binade - 23));
}

StoredBlock QuantiseBlock(std::span<const std::uint16_t> bf16, BlockCode code, SmallestFactor smallest) {
  const CodeRow row = RowOf(code);
  std::uint16_t largest = 0;  // magnitudes of bf16 order as their bits
  for (const std::uint16_t x : bf16) {
    if (!Bf16IsNan(x)) largest = std::max<std::uint16_t>(largest, x & 0x7FFFU);
  }
  StoredBlock out;
  int scale = 0;  // of the codes; the clamp of E2M1 keeps it finite
  if (Bf16IsInf(largest)) {
    out.exponent = code == BlockCode::kE2M1 ? 127 : kInfiniteExponent;
  } else {
    const Dyadic amax = MagnitudeOfBf16(largest);
    out.exponent = ExponentOf(LessEqual(amax, row.floor) ? row.floor : amax, row.divisor);
  }
  const bool vanishes = out.exponent == 127 && smallest == SmallestFactor::kFlushed;
  scale = vanishes ? kInfiniteExponent : out.exponent;
  for (const std::uint16_t x : bf16) {
    const std::uint8_t sign = static_cast<std::uint8_t>((x >> 15) << row.sign_bit);
    const bool nan = Bf16IsNan(x) || (Bf16IsInf(x) && scale == kInfiniteExponent);
    if (nan) {
      out.codes.push_back(NanOf(code));
      continue;
    }
    std::uint8_t magnitude = 0;
    if (Bf16IsInf(x)) {
      magnitude = row.largest;
    } else if (scale != kInfiniteExponent) {
      const Dyadic v = MagnitudeOfBf16(x);
      magnitude = RoundToCode({v.m, v.k - scale}, row);
    }
    const bool drop_sign = code == BlockCode::kQE4M3Fnuz && magnitude == 0;
    out.codes.push_back(drop_sign ? magnitude : static_cast<std::uint8_t>(sign | magnitude));
  }
  return out;
}

std::uint8_t Ue8m0Of(int exponent) {
  if (exponent == kInfiniteExponent) return 255;
  return static_cast<std::uint8_t>(std::clamp(exponent + 127, 0, 255));
}

float PowerOfTwo(int exponent) { return exponent == kInfiniteExponent ? HUGE_VALF : std::ldexp(1.0F, exponent); }

StoredToken StoreToken(spec::Operation op, std::span<const std::uint16_t> normed,
                       std::span<const std::uint16_t> rotated, SmallestFactor smallest) {
  const spec::Layout& layout = *spec::row(op).layout;
  const auto codes = static_cast<std::size_t>(layout.code_values);
  const auto block = static_cast<std::size_t>(layout.quant_block);
  StoredToken out;
  const bool head512 = layout.rope_values != 0;
  const std::span<const std::uint16_t> source = (head512 ? normed : rotated).first(codes);
  out.quantised.assign(source.begin(), source.end());
  const BlockCode kind = layout.code_type == spec::CodeType::kE2M1Nibble ? BlockCode::kE2M1 : BlockCode::kCompressE4M3;
  for (std::size_t at = 0; at < codes; at += block)
    out.blocks.push_back(QuantiseBlock(source.subspan(at, block), kind, smallest));
  if (head512) {
    const std::span<const std::uint16_t> rope = rotated.last(static_cast<std::size_t>(layout.rope_values));
    out.rope.assign(rope.begin(), rope.end());
  }
  return out;
}

StoredQ StoreQ(QKind kind, std::span<const std::uint16_t> values) {
  StoredQ out;
  out.values.assign(values.begin(), values.end());
  const BlockCode code = kind == QKind::kFp8       ? BlockCode::kQE4M3
                         : kind == QKind::kFp8Fnuz ? BlockCode::kQE4M3Fnuz
                                                   : BlockCode::kE2M1;
  const std::size_t block = kind == QKind::kMxfp4 ? 32 : values.size();
  for (std::size_t at = 0; at < values.size(); at += block)
    out.blocks.push_back(QuantiseBlock(values.subspan(at, block), code));
  return out;
}

}  // namespace kvexact::oracle
