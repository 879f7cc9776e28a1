// SPDX-License-Identifier: Apache-2.0
// From scaled values to codes.
#include <algorithm>
#include <bit>
#include <cmath>

#include "harness/faults/fault.h"
#include "reference/formats/bf16.h"
#include "reference/formats/decode.h"
#include "reference/formats/encode.h"

namespace kvexact {
namespace {

using Values = std::span<const float>;
using EncodeStage = void (*)(const QuantiseRule&, Values, int, std::uint8_t*);

template <EncodeStage kStage>
void ReplaceEncode(Variant& v) {
  v.stages.encode = kStage;
}

bool IsFp4(const QuantiseRule& rule) { return rule.format == &spec::kE2M1; }

float Clamp(const QuantiseRule& rule, float x) {
  return x > rule.clamp ? rule.clamp : x < -rule.clamp ? -rule.clamp : x;
}

// Codes of one family of formats by code_of(rule, scaled value); the other family as it should be.
template <class CodeOf>
void EncodeBy(bool applies, const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes,
              const CodeOf& code_of) {
  if (!applies) return EncodeBlock(rule, values, exponent, codes);
  const float factor = PowerOfTwo(-exponent);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float scaled = Clamp(rule, values[i] * factor);
    codes[i] = scaled != scaled ? rule.nan_code : code_of(scaled);
  }
}

std::uint8_t Code(const spec::Format& format, float x, Rounding rounding) {
  return static_cast<std::uint8_t>(Encode(format, x, rounding, Overflow::kSaturate));
}
std::uint8_t Nearest(const spec::Format& format, float x) { return Code(format, x, Rounding::kNearestEven); }

float Truncated(float x, int dropped) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & ~((std::uint32_t{1} << dropped) - 1));
}

// fp16, nearest even, as a float.
float Fp16(float x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), -14);
  const float step = std::ldexp(1.0F, exponent - 10);
  return std::nearbyint(x / step) * step;
}

// ---- E4M3 ------------------------------------------------------------------------------------

template <int kClamp>
void ClampAt(Variant& v) {
  v.policy.fp8_clamp = static_cast<float>(kClamp);
}
void NoBf16(Variant& v) { v.policy.bf16_before_quantise = false; }
void NoBf16OfQ(Variant& v) {
  v.stages.round_q_head = [](const Stages& stages, const Policy& policy, const IndexerQInputs& in,
                             const QHeadValues& values, StoredQHead& out) {
    Stages fp32 = stages;
    fp32.quantise_input = [](Values given, float* rounded) { std::copy(given.begin(), given.end(), rounded); };
    RoundQHeadValues(fp32, policy, in, values, out);
  };
}
void Bf16Truncates(Variant& v) {
  v.stages.quantise_input = [](Values values, float* out) {
    for (std::size_t i = 0; i < values.size(); ++i)
      out[i] = values[i] != values[i] ? values[i] : Truncated(values[i], 16);
  };
}
void Bf16TiesAway(Variant& v) {
  v.stages.quantise_input = [](Values values, float* out) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      out[i] = Decode(spec::kBf16, Encode(spec::kBf16, values[i], Rounding::kTiesAway, Overflow::kToInfinity));
    }
  };
}
void Fp16ForBf16(Variant& v) {
  v.stages.quantise_input = [](Values values, float* out) {
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = std::fabs(values[i]) > 65504 ? values[i] : Fp16(values[i]);
  };
}

template <Rounding kRounding>
void Fp8Rounding(Variant& v) {
  v.policy.e4m3_rounding = kRounding;
}
template <Rounding kRounding>
void Fp4Rounding(Variant& v) {
  v.policy.e2m1_rounding = kRounding;
}

void Fp16ThenTruncate(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes,
           [&](float x) { return Code(*rule.format, Fp16(x), Rounding::kTowardZero); });
}
void Fp16ThenRound(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes, [&](float x) { return Nearest(*rule.format, Fp16(x)); });
}

// The rounded mantissa or-ed to the exponent field: its carry is lost.
void CarryLost(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes, [&](float x) {
    const std::uint8_t down = Code(*rule.format, x, Rounding::kTowardZero);
    const std::uint8_t near = Nearest(*rule.format, x);
    const bool carried = (down & 7) == 7 && near != down && (near & 7) == 0;
    return carried ? static_cast<std::uint8_t>(down & ~7) : near;
  });
}

int MinExponent8(const QuantiseRule& rule) { return 1 - rule.format->bias; }
bool IsSubnormal(const QuantiseRule& rule, float x) { return std::fabs(x) < std::ldexp(1.0F, MinExponent8(rule)); }

void FlushSubnormals(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes,
           [&](float x) { return Nearest(*rule.format, IsSubnormal(rule, x) ? std::copysign(0.0F, x) : x); });
}
void SubnormalsOneBinadeOff(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes,
           [&](float x) { return Nearest(*rule.format, IsSubnormal(rule, x) ? x / 2 : x); });
}
void SubnormalsTruncated(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes, [&](float x) {
    return IsSubnormal(rule, x) ? Code(*rule.format, x, Rounding::kTowardZero) : Nearest(*rule.format, x);
  });
}
void SubnormalsTiesAway(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes, [&](float x) {
    return IsSubnormal(rule, x) ? Code(*rule.format, x, Rounding::kTiesAway) : Nearest(*rule.format, x);
  });
}

void OverflowToNan(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  if (IsFp4(rule)) return EncodeBlock(rule, values, exponent, codes);
  const float factor = PowerOfTwo(-exponent);
  for (std::size_t i = 0; i < values.size(); ++i) {
    codes[i] = static_cast<std::uint8_t>(Encode(*rule.format, values[i] * factor, rule.rounding, Overflow::kToNan));
  }
}

// x * scale.
void MultiplyScale(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBlock(rule, values, -exponent, codes);
}
void Unscaled(const QuantiseRule& rule, Values values, int, std::uint8_t* codes) {
  EncodeBlock(rule, values, 0, codes);
}

void OtherE4M3(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  QuantiseRule other = rule;
  if (!IsFp4(rule)) other.format = rule.format == &spec::kE4M3Fn ? &spec::kE4M3Fnuz : &spec::kE4M3Fn;
  EncodeBlock(other, values, exponent, codes);
}
void E5M2(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  static constexpr spec::Format kE5M2{"e5m2", 8, 5, 2, 15, true, true, true, spec::NanCode::kIeee, 0x7F};
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes, [](float x) { return Nearest(kE5M2, x); });
}
void Int8(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(!IsFp4(rule), rule, values, exponent, codes, [](float x) {
    return static_cast<std::uint8_t>(static_cast<int>(std::nearbyint(std::clamp(x * (127.0F / 448), -127.0F, 127.0F))));
  });
}

template <bool kFp4>
void Unsigned(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(IsFp4(rule) == kFp4, rule, values, exponent, codes,
           [&](float x) { return Code(*rule.format, std::fabs(x), rule.rounding); });
}
template <bool kFp4>
void LostSign(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(IsFp4(rule) == kFp4, rule, values, exponent, codes, [&](float x) {
    const std::uint8_t code = Code(*rule.format, x, rule.rounding);
    return code == (kFp4 ? 8 : 0x80) && x != 0 ? std::uint8_t{0} : code;
  });
}
template <bool kFp4, int kCode>
void NanAs(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  QuantiseRule other = rule;
  if (IsFp4(rule) == kFp4) other.nan_code = static_cast<std::uint8_t>(kCode);
  EncodeBlock(other, values, exponent, codes);
}

void FnuzMinusZero(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBlock(rule, values, exponent, codes);
  if (rule.format != &spec::kE4M3Fnuz) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (codes[i] == 0 && std::signbit(values[i])) codes[i] = 0x80;
  }
}

// A clamp at 448 that the conversion does by itself.
void NoClamp(Variant& v) { v.policy.fp8_clamp = std::numeric_limits<float>::infinity(); }

// ---- E2M1 ------------------------------------------------------------------------------------

void Fp4TiesUp(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(IsFp4(rule), rule, values, exponent, codes,
           [&](float x) { return Code(*rule.format, x, Rounding::kTiesUp); });
}

// Thresholds of a float lookup with steps of one half throughout: the upper codes lose their coarser steps.
void Fp4EvenSteps(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(IsFp4(rule), rule, values, exponent, codes, [](float x) {
    const auto magnitude = static_cast<std::uint8_t>(std::min(std::nearbyint(std::fabs(x) * 7 / 6), 7.0F));
    return static_cast<std::uint8_t>(magnitude | (std::signbit(x) ? 8 : 0));
  });
}
void Fp4NoHalf(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  EncodeBy(IsFp4(rule), rule, values, exponent, codes, [&](float x) {
    const std::uint8_t code = Nearest(*rule.format, x);
    return (code & 7) == 1 ? static_cast<std::uint8_t>(code & 8) : code;
  });
}
void Fp4Thresholds(const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
  // 5 goes up to 6: the comparison is >=.
  EncodeBy(IsFp4(rule), rule, values, exponent, codes, [&](float x) {
    const std::uint8_t code = Nearest(*rule.format, x);
    return std::fabs(x) == 5 ? static_cast<std::uint8_t>(code | 7) : code;
  });
}

using PackStage = void (*)(std::span<const std::uint8_t>, std::uint8_t*);
template <PackStage kStage>
void ReplacePack(Variant& v) {
  v.stages.pack = kStage;
}
std::uint8_t Pair(std::uint8_t low, std::uint8_t high) { return static_cast<std::uint8_t>(low | high << 4); }
void HighFirst(std::span<const std::uint8_t> x, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < x.size() / 2; ++i) bytes[i] = Pair(x[2 * i + 1], x[2 * i]);
}
// Element i of n with element i + n / 2, block after block of n.
void PackHalves(std::span<const std::uint8_t> x, std::size_t n, std::uint8_t* bytes) {
  for (std::size_t first = 0; first < x.size(); first += n) {
    for (std::size_t i = 0; i < n / 2; ++i) bytes[first / 2 + i] = Pair(x[first + i], x[first + n / 2 + i]);
  }
}
void HalvesOfBlock(std::span<const std::uint8_t> x, std::uint8_t* bytes) { PackHalves(x, 32, bytes); }
void HalvesOfHead(std::span<const std::uint8_t> x, std::uint8_t* bytes) { PackHalves(x, x.size(), bytes); }
void SignExtended(std::span<const std::uint8_t> x, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < x.size() / 2; ++i) {
    bytes[i] = static_cast<std::uint8_t>(Pair(x[2 * i], x[2 * i + 1]) | ((x[2 * i] & 8) != 0 ? 0xF0 : 0));
  }
}
void LowTwice(std::span<const std::uint8_t> x, std::uint8_t* bytes) {
  for (std::size_t i = 0; i < x.size() / 2; ++i) bytes[i] = Pair(x[2 * i], x[2 * i]);
}

constexpr Fault kRows[] = {
    {"fp8-clamp-240", "quantise", "clamps at 240, scale right", "scaled values beyond it", kHead512Stores | kFp8Indexer,
     &ClampAt<240>},
    {"fp8-clamp-224", "quantise", "clamps at 224, scale right", "scaled values beyond it", kHead512Stores | kFp8Indexer,
     &ClampAt<224>},
    {"fp8-clamp-416", "quantise", "clamps at 416, one code below the largest", "a scaled value of 448",
     kHead512Stores | kFp8Indexer, &ClampAt<416>},
    {"fp8-no-clamp", "quantise", "no clamp before a saturating conversion", "no value", kHead512Stores | kFp8Indexer,
     &NoClamp, FaultClass::kEquivalent,
     "The scale is the smallest 2^e with absmax <= 448 * 2^e, so no scaled value passes 448; an infinite absmax scales "
     "by 0, which leaves 0 and NaN. The clamp changes nothing, and NaN keeps its code."},
    {"fp8-no-bf16", "quantise", "quantises the fp32 value, no bf16 rounding first",
     "value * scale = 1.0625001 (about 3 % of codes flip)", kStores, &NoBf16},
    {"q-no-bf16", "quantise", "Q: quantises the rotated fp32 value, no bf16 rounding first", "any rotated value", kQ,
     &NoBf16OfQ},
    {"bf16-truncated", "quantise", "truncates to bf16 before quantisation", "values with low mantissa bits", kQuantises,
     &Bf16Truncates},
    {"bf16-ties-away", "quantise", "bf16 ties away from zero before quantisation",
     "a bf16 midpoint beside a code's midpoint", kQuantises, &Bf16TiesAway},
    {"fp16-for-bf16", "quantise", "rounds to fp16, not bf16, before quantisation", "values with low mantissa bits",
     kQuantises, &Fp16ForBf16},
    {"fp8-fp16-first", "quantise", "fp32 to fp16 to E4M3 by truncation", "any value off the grid", kFp8Codes,
     &ReplaceEncode<&Fp16ThenTruncate>},
    {"fp8-fp16-round", "quantise", "fp32 to fp16 to E4M3, rounding both times", "no value that is a bf16 one",
     kFp8Codes, &ReplaceEncode<&Fp16ThenRound>, FaultClass::kEquivalent,
     "A scaled bf16 value has 8 significant bits: from 2^-14 up fp16 holds it exactly, and below that both it and its "
     "fp16 rounding lie under half the smallest code (2^-10; 2^-11 of e4m3fnuz). Checked for all bf16 values and "
     "exponents."},
    {"fp8-ties-away", "quantise", "ties away from zero", "4.25 (4.75 does not show it)", kFp8Codes,
     &Fp8Rounding<Rounding::kTiesAway>},
    {"fp8-ties-to-zero", "quantise", "ties towards zero", "4.75", kFp8Codes, &Fp8Rounding<Rounding::kTiesToZero>},
    {"fp8-ties-up", "quantise", "ties towards +infinity", "4.25, -4.75", kFp8Codes, &Fp8Rounding<Rounding::kTiesUp>},
    {"fp8-truncate", "quantise", "truncates", "any value off the grid", kFp8Codes, &Fp8Rounding<Rounding::kTowardZero>},
    {"fp8-round-up", "quantise", "rounds away from zero", "any value off the grid", kFp8Codes,
     &Fp8Rounding<Rounding::kAwayFromZero>},
    {"fp8-carry-lost", "quantise", "carry out of the mantissa or-ed, not added", "126.2386, 1.97", kFp8Codes,
     &ReplaceEncode<&CarryLost>},
    {"fp8-subnormal", "quantise", "subnormals one binade off", "codes 1 to 7", kFp8Codes,
     &ReplaceEncode<&SubnormalsOneBinadeOff>},
    {"fp8-subnormal-flushed", "quantise", "subnormals flushed to zero", "codes 1 to 7", kFp8Codes,
     &ReplaceEncode<&FlushSubnormals>},
    {"fp8-subnormal-truncated", "quantise", "subnormals truncated", "values between codes 0 and 8", kFp8Codes,
     &ReplaceEncode<&SubnormalsTruncated>},
    {"fp8-subnormal-ties-away", "quantise", "ties of subnormals away from zero", "half a code below code 8", kFp8Codes,
     &ReplaceEncode<&SubnormalsTiesAway>},
    {"fp8-overflow-nan", "quantise", "saturation becomes NaN, NaN is 0x7F",
     "nothing finite (the scaled maximum is at most 448): a token with NaN", kFp8Codes, &ReplaceEncode<&OverflowToNan>},
    {"fp8-multiply-scale", "quantise", "x * scale instead of x / scale", "scale other than 1", kQuantises,
     &ReplaceEncode<&MultiplyScale>},
    {"codes-unscaled", "quantise", "codes of x, not of x / scale", "scale other than 1", kQuantises,
     &ReplaceEncode<&Unscaled>},
    {"fnuz-code", "quantise", "e4m3fnuz codes where e4m3fn is asked, or the reverse", "any non-zero value", kFp8Codes,
     &ReplaceEncode<&OtherE4M3>},
    {"fnuz-minus-zero", "quantise", "FNUZ: a negative that rounds to zero gives 0x80, which is NaN", "small negatives",
     kQFp8, &ReplaceEncode<&FnuzMinusZero>},
    {"fp8-e5m2", "quantise", "E5M2 codes", "any non-zero value", kFp8Codes, &ReplaceEncode<&E5M2>},
    {"fp8-int8", "quantise", "8-bit integers", "any non-zero value", kFp8Codes, &ReplaceEncode<&Int8>},
    {"fp8-unsigned", "quantise", "codes without sign", "any negative value", kFp8Codes,
     &ReplaceEncode<&Unsigned<false>>},
    {"fp8-lost-sign", "quantise", "negative values that round to zero lose their sign", "a small negative value",
     kFp8Codes, &ReplaceEncode<&LostSign<false>>},
    {"fp8-nan-zero", "quantise", "NaN becomes 0", "a token with NaN", kFp8Codes, &ReplaceEncode<&NanAs<false, 0>>},
    {"fp8-nan-kept", "quantise", "NaN stays NaN (0x7F) through the clamp", "a token with NaN",
     kHead512Stores | kFp8Indexer, &ReplaceEncode<&NanAs<false, 0x7F>>},
    {"fp4-ties-up", "quantise", "E2M1 ties away: 0.25, 1.25, 2.5, 5 round up",
     "block with amax in (3, 6] holding the seven midpoints", kFp4Codes, &Fp4Rounding<Rounding::kTiesAway>},
    {"fp4-ties-down", "quantise", "E2M1 ties to the lower value: 0.75, 1.75, 3.5", "the same", kFp4Codes,
     &Fp4Rounding<Rounding::kTiesToZero>},
    {"fp4-ties-to-plus", "quantise", "E2M1 ties towards +infinity", "the same", kFp4Codes, &ReplaceEncode<&Fp4TiesUp>},
    {"fp4-truncate", "quantise", "E2M1 truncates", "any value off the grid", kFp4Codes,
     &Fp4Rounding<Rounding::kTowardZero>},
    {"fp4-tie-of-5", "quantise", "5 rounds to 6", "a scaled value of 5", kFp4Codes, &ReplaceEncode<&Fp4Thresholds>},
    {"fp4-even-steps", "quantise", "E2M1 codes as if evenly spaced", "any value off the grid", kFp4Codes,
     &ReplaceEncode<&Fp4EvenSteps>},
    {"fp4-no-half", "quantise", "0.5, the only subnormal, flushed to zero", "values in (0.25, 0.75)", kFp4Codes,
     &ReplaceEncode<&Fp4NoHalf>},
    {"fp4-unsigned", "quantise", "nibbles without sign", "any negative value", kFp4Codes,
     &ReplaceEncode<&Unsigned<true>>},
    {"fp4-lost-sign", "quantise", "negative values that round to zero lose their sign", "-0.1 at scale 1", kFp4Codes,
     &ReplaceEncode<&LostSign<true>>},
    {"fp4-nan-zero", "quantise", "NaN becomes 0", "a token with NaN", kFp4Codes, &ReplaceEncode<&NanAs<true, 0>>},
    {"fp4-nibble-order", "quantise", "high nibble first", "pair (1, 6): 0x72, not 0x27", kFp4Codes,
     &ReplacePack<&HighFirst>},
    {"fp4-halves", "quantise", "packs element i with i + 16 instead of neighbours", "distinct values", kFp4Codes,
     &ReplacePack<&HalvesOfBlock>},
    {"fp4-halves-of-head", "quantise", "packs element i with i + 64 instead of neighbours", "distinct values",
     kFp4Codes, &ReplacePack<&HalvesOfHead>},
    {"fp4-sign-extended", "quantise", "a negative low nibble fills the high one", "a negative even element", kFp4Codes,
     &ReplacePack<&SignExtended>},
    {"fp4-low-twice", "quantise", "the even element in both nibbles", "distinct values", kFp4Codes,
     &ReplacePack<&LowTwice>},
};

}  // namespace

std::span<const Fault> QuantiseFaults() { return kRows; }

}  // namespace kvexact
