// SPDX-License-Identifier: Apache-2.0
// A block's absmax, its scale and how that is stored.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "harness/faults/fault.h"
#include "reference/formats/bf16.h"
#include "reference/formats/encode.h"

namespace kvexact {
namespace {

using Values = std::span<const float>;

std::uint32_t Bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float FromBits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// ---- exponent --------------------------------------------------------------------------------

template <ScaleRounding kRounding>
void RoundBy(Variant& v) {
  v.policy.scale_rounding = kRounding;
}

using ExponentStage = int (*)(const QuantiseRule&, float);
template <ExponentStage kStage>
void ReplaceExponent(Variant& v) {
  v.stages.exponent = kStage;
}

int Clamped(const QuantiseRule& rule, int exponent) {
  return rule.clamp_exponent ? std::clamp(exponent, -127, 127) : exponent;
}

// Whether absmax / divisor is a power of two, exactly.
bool AtPower(const QuantiseRule& rule, float absmax) {
  return absmax > 0 && std::isfinite(absmax) &&
         ScaleExponent(absmax, rule.divisor, ScaleRounding::kFloor) ==
             ScaleExponent(absmax, rule.divisor, ScaleRounding::kCeil);
}

int ApproxLog2(const QuantiseRule& rule, float absmax) {
  const int exponent = ScaleExponent(absmax, rule.divisor);
  return Clamped(rule, exponent < 0 && AtPower(rule, absmax) ? exponent + 1 : exponent);
}

int OneUpAtPower(const QuantiseRule& rule, float absmax) {
  const int exponent = ScaleExponent(absmax, rule.divisor);
  return Clamped(rule, AtPower(rule, absmax) ? exponent + 1 : exponent);
}

float Ratio(const QuantiseRule& rule, float absmax) { return absmax * (1.0F / ValueOf(rule.divisor)); }

int NaturalLog(const QuantiseRule& rule, float absmax) {
  const float ratio = Ratio(rule, absmax);
  if (!(ratio > 0) || !std::isfinite(ratio)) return BlockExponent(rule, absmax);
  const auto log = static_cast<float>(std::log(static_cast<double>(ratio)));
  constexpr float kInverse = 1.44269504F;
  return Clamped(rule, static_cast<int>(std::ceil(log * kInverse)));
}

template <int kChange>
int OffBy(const QuantiseRule& rule, float absmax) {
  const int exponent = ScaleExponent(absmax, rule.divisor);
  return exponent == kInfiniteExponent || exponent == kZeroExponent ? Clamped(rule, exponent)
                                                                    : Clamped(rule, exponent + kChange);
}

int NotBelowOne(const QuantiseRule& rule, float absmax) { return std::max(BlockExponent(rule, absmax), 0); }

int EvenExponent(const QuantiseRule& rule, float absmax) {
  const int exponent = ScaleExponent(absmax, rule.divisor);
  if (exponent == kInfiniteExponent || exponent == kZeroExponent) return Clamped(rule, exponent);
  return Clamped(rule, exponent + (exponent & 1));
}

// ceil(log2(A)) - ceil(log2(F)).
int CeilOfBoth(const QuantiseRule& rule, float absmax) {
  const int exponent = ScaleExponent(absmax, rule.divisor, ScaleRounding::kOcpCeil);
  if (exponent == kInfiniteExponent || exponent == kZeroExponent) return Clamped(rule, exponent);
  return Clamped(rule, exponent - 1);
}

int Unclamped(const QuantiseRule& rule, float absmax) {
  return ScaleExponent(absmax, rule.divisor, rule.scale_rounding);
}

int NormalRangeOnly(const QuantiseRule& rule, float absmax) {
  const int exponent = BlockExponent(rule, absmax);
  return exponent == kInfiniteExponent ? 126 : std::clamp(exponent, -126, 126);
}

// ---- divisors and floors ---------------------------------------------------------------------

constexpr ScaleDivisor kDivisor240{0x700000, 7, 3};
constexpr ScaleDivisor kDivisor256{0, 8, 3};
constexpr ScaleDivisor kDivisor464{0x680000, 8, 3};
constexpr ScaleDivisor kDivisor4{0, 2, 1};
constexpr ScaleDivisor kDivisor8{0, 3, 1};

template <int kWhich>
void DivideBy(Variant& v) {
  constexpr ScaleDivisor kDivisors[] = {kDivisor240, kDivisor224, kDivisor256, kDivisor464};
  v.policy.fp8_divisor = kDivisors[kWhich];
}
void FnuzDivisor240(Variant& v) { v.policy.fnuz_divisor = kDivisor240; }
void FnuzDivisor448(Variant& v) { v.policy.fnuz_divisor = kDivisor448; }
void Mxfp4Divisor4(Variant& v) { v.policy.mxfp4_divisor = kDivisor4; }
void Mxfp4Divisor8(Variant& v) { v.policy.mxfp4_divisor = kDivisor8; }

void NoFloor(Variant& v) { v.policy.fp8_amax_floor = v.policy.mxfp4_amax_floor = 0; }
void Fp8FloorOneTenth(Variant& v) { v.policy.fp8_amax_floor = 1e-10F; }
void Fp8FloorLarge(Variant& v) { v.policy.fp8_amax_floor = 1e-3F; }
void Mxfp4FloorOfFp8(Variant& v) { v.policy.mxfp4_amax_floor = spec::kFp8AmaxFloor; }
void Mxfp4FloorLow(Variant& v) { v.policy.mxfp4_amax_floor = 0x1p-126F; }

// The floor raises the scale, not the absmax.
int FloorOnScale(const QuantiseRule& rule, float absmax) {
  const int least = ScaleExponent(rule.amax_floor, ScaleDivisor{0, 0, 0});
  const float above_zero = absmax > rule.amax_floor ? absmax : FromBits(1);
  const int exponent = std::max(ScaleExponent(above_zero, rule.divisor), least);
  return Clamped(rule, absmax == std::numeric_limits<float>::infinity() ? kInfiniteExponent : exponent);
}

// ---- absmax ----------------------------------------------------------------------------------

using AbsmaxStage = float (*)(const QuantiseRule&, Values);
template <AbsmaxStage kStage>
void ReplaceAbsmax(Variant& v) {
  v.stages.absmax = kStage;
}

float SignedMax(const QuantiseRule& rule, Values values) {
  float most = rule.amax_floor;
  for (const float x : values) most = x > most ? x : most;
  return most;
}
float MinusMin(const QuantiseRule& rule, Values values) {
  float most = rule.amax_floor;
  for (const float x : values) most = -x > most ? -x : most;
  return most;
}
float SkipLast(const QuantiseRule& rule, Values values) { return BlockAbsmax(rule, values.first(values.size() - 1)); }
float SkipFirst(const QuantiseRule& rule, Values values) { return BlockAbsmax(rule, values.subspan(1)); }
float FirstHalf(const QuantiseRule& rule, Values values) { return BlockAbsmax(rule, values.first(values.size() / 2)); }
float LastHalf(const QuantiseRule& rule, Values values) { return BlockAbsmax(rule, values.subspan(values.size() / 2)); }

template <int kFirst>
float EveryOther(const QuantiseRule& rule, Values values) {
  float kept[kMaxHeadDim];
  std::size_t n = 0;
  for (std::size_t i = kFirst; i < values.size(); i += 2) kept[n++] = values[i];
  return BlockAbsmax(rule, {kept, n});
}
void EvenOnFp4(Variant& v) {
  v.stages.absmax = [](const QuantiseRule& rule, Values values) {
    return rule.format == &spec::kE2M1 ? EveryOther<0>(rule, values) : BlockAbsmax(rule, values);
  };
}
float Spread(const QuantiseRule& rule, Values values) {
  float least = values[0];
  float most = values[0];
  for (const float x : values) {
    least = std::min(least, x);
    most = std::max(most, x);
  }
  const float half = (most - least) / 2;
  return half > rule.amax_floor ? half : rule.amax_floor;
}
float NanCounts(const QuantiseRule& rule, Values values) {
  for (const float x : values) {
    if (x != x) return std::numeric_limits<float>::infinity();
  }
  return BlockAbsmax(rule, values);
}

// ---- whole tokens ----------------------------------------------------------------------------

using QuantiseStage = void (*)(const Stages&, const QuantiseTask&, QuantisedValues&);
template <QuantiseStage kStage>
void ReplaceQuantise(Variant& v) {
  v.stages.quantise = kStage;
}

struct Blocks {
  float rounded[kMaxHeadDim];
  int count;
  std::size_t size;
  int exponent[StoredToken::kMaxScales];
  float absmax[StoredToken::kMaxScales];

  Values of(int b) const { return {rounded + static_cast<std::size_t>(b) * size, size}; }
};

Blocks Prepare(const Stages& stages, const QuantiseTask& task) {
  Blocks blocks;
  if (task.bf16_first) {
    stages.quantise_input(task.values, blocks.rounded);
  } else {
    std::copy(task.values.begin(), task.values.end(), blocks.rounded);
  }
  blocks.size = static_cast<std::size_t>(task.block);
  blocks.count = static_cast<int>(task.values.size() / blocks.size);
  for (int b = 0; b < blocks.count; ++b) {
    blocks.absmax[b] = stages.absmax(task.rule, blocks.of(b));
    blocks.exponent[b] = stages.exponent(task.rule, blocks.absmax[b]);
  }
  return blocks;
}

void Finish(const Stages& stages, const QuantiseTask& task, const Blocks& blocks, QuantisedValues& out) {
  for (int b = 0; b < blocks.count; ++b) {
    stages.encode(task.rule, blocks.of(b), blocks.exponent[b], out.codes + static_cast<std::size_t>(b) * blocks.size);
    out.scale[b] = PowerOfTwo(blocks.exponent[b]);
    out.stored[b] = stages.stored_scale(task.scale_type, blocks.exponent[b]);
  }
}

void Shared(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  Blocks blocks = Prepare(stages, task);
  const int most = *std::max_element(blocks.exponent, blocks.exponent + blocks.count);
  std::fill_n(blocks.exponent, blocks.count, most);
  Finish(stages, task, blocks, out);
}

template <int kStep>
void OfOtherBlock(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  const Blocks own = Prepare(stages, task);
  Blocks blocks = own;
  for (int b = 0; b < own.count; ++b) blocks.exponent[b] = own.exponent[(b + kStep + own.count) % own.count];
  Finish(stages, task, blocks, out);
}

// Codes by the right scales, scales stored in another order.
void StoredReversed(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  QuantiseBlocks(stages, task, out);
  const auto count = static_cast<std::ptrdiff_t>(task.values.size()) / task.block;
  std::reverse(out.stored, out.stored + count);
}

void StoredFirst(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  QuantiseBlocks(stages, task, out);
  const auto count = static_cast<std::ptrdiff_t>(task.values.size()) / task.block;
  std::fill(out.stored, out.stored + count, out.stored[0]);
}

void AbsmaxOf(const Stages& stages, const QuantiseTask& task, Values of, QuantisedValues& out) {
  Blocks blocks = Prepare(stages, task);
  for (int b = 0; b < blocks.count; ++b) {
    blocks.exponent[b] = stages.exponent(
        task.rule, stages.absmax(task.rule, of.subspan(static_cast<std::size_t>(b) * blocks.size, blocks.size)));
  }
  Finish(stages, task, blocks, out);
}

void AbsmaxBeforeRope(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  float rounded[kMaxHeadDim];
  stages.quantise_input(task.unrotated, rounded);
  AbsmaxOf(stages, task, {rounded, task.unrotated.size()}, out);
}

void AbsmaxOfFp32(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  AbsmaxOf(stages, task, task.values, out);
}

// Codes of x / scale for a scale that is no power of two.
void EncodeBy(const QuantiseTask& task, Values values, float scale, std::uint8_t* codes) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float scaled = values[i] / scale;
    codes[i] =
        scaled != scaled
            ? task.rule.nan_code
            : static_cast<std::uint8_t>(Encode(*task.rule.format, scaled, task.rule.rounding, Overflow::kSaturate));
  }
}

void CodesByRawScale(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  const Blocks blocks = Prepare(stages, task);
  Finish(stages, task, blocks, out);
  for (int b = 0; b < blocks.count; ++b) {
    EncodeBy(task, blocks.of(b), blocks.absmax[b] / ValueOf(task.rule.divisor),
             out.codes + static_cast<std::size_t>(b) * blocks.size);
  }
}

std::uint32_t RawStored(spec::ScaleType type, float raw) {
  return type == spec::ScaleType::kFp32Word ? Bits(raw) : Bits(raw) >> 23;
}

void RawScaleStored(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  const Blocks blocks = Prepare(stages, task);
  Finish(stages, task, blocks, out);
  for (int b = 0; b < blocks.count; ++b) {
    out.scale[b] = blocks.absmax[b] / ValueOf(task.rule.divisor);
    out.stored[b] = RawStored(task.scale_type, out.scale[b]);
  }
}

// Raw scales, four to a word, by shifts that take the mantissas along.
void MantissaLeak(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  CodesByRawScale(stages, task, out);
  const Blocks blocks = Prepare(stages, task);
  std::uint32_t raw[StoredToken::kMaxScales + 4] = {};
  for (int b = 0; b < blocks.count; ++b) {
    out.scale[b] = blocks.absmax[b] / ValueOf(task.rule.divisor);
    raw[b] = Bits(out.scale[b]);
    out.stored[b] = raw[b];
  }
  if (task.scale_type == spec::ScaleType::kFp32Word) return;
  for (int b = 0; b < blocks.count; b += 4) {
    const std::uint32_t word = raw[b] >> 23 | raw[b + 1] >> 15 | raw[b + 2] >> 7 | raw[b + 3] << 1;
    for (int i = 0; i < 4 && b + i < blocks.count; ++i) out.stored[b + i] = word >> (8 * i) & 0xFF;
  }
}

// ---- stored scale ----------------------------------------------------------------------------

using StoredStage = std::uint32_t (*)(spec::ScaleType, int);
template <StoredStage kStage>
void ReplaceStored(Variant& v) {
  v.stages.stored_scale = kStage;
}

template <int kBias>
std::uint32_t OtherBias(spec::ScaleType type, int exponent) {
  if (type == spec::ScaleType::kFp32Word || std::abs(exponent) > 126) return StoredScale(type, exponent);
  return static_cast<std::uint32_t>(exponent + kBias) & 0xFF;
}
std::uint32_t Wraps(spec::ScaleType type, int exponent) {
  if (type == spec::ScaleType::kFp32Word) return StoredScale(type, exponent);
  return static_cast<std::uint32_t>(exponent + 127) & 0xFF;
}
std::uint32_t InverseScale(spec::ScaleType type, int exponent) { return StoredScale(type, -exponent); }
std::uint32_t ByteInWord(spec::ScaleType type, int exponent) {
  return type == spec::ScaleType::kFp32Word ? Ue8m0Byte(exponent) : StoredScale(type, exponent);
}
std::uint32_t HalfInWord(spec::ScaleType type, int exponent) {
  const std::uint32_t bits = StoredScale(type, exponent);
  return type == spec::ScaleType::kFp32Word ? bits >> 16 : bits;
}
std::uint32_t BigEndian(spec::ScaleType type, int exponent) {
  const std::uint32_t bits = StoredScale(type, exponent);
  return type == spec::ScaleType::kFp32Word ? __builtin_bswap32(bits) : bits;
}
std::uint32_t TopByteInfinite(spec::ScaleType type, int exponent) {
  return type == spec::ScaleType::kUe8m0Byte ? std::min<std::uint32_t>(Ue8m0Byte(exponent), 254)
                                             : StoredScale(type, exponent);
}

// ---- proof by exhaustion (property_tests/faults) ----------------------------------------------

int ByReciprocal(const QuantiseRule& rule, float absmax) {
  const float ratio = absmax * (1.0F / ValueOf(rule.divisor));
  return Clamped(rule, ratio == std::numeric_limits<float>::infinity() ? kInfiniteExponent
                                                                       : ScaleExponent(ratio, ScaleDivisor{0, 0, 0}));
}
int ByDivision(const QuantiseRule& rule, float absmax) {
  const float ratio = absmax / ValueOf(rule.divisor);
  return Clamped(rule, ratio == std::numeric_limits<float>::infinity() ? kInfiniteExponent
                                                                       : ScaleExponent(ratio, ScaleDivisor{0, 0, 0}));
}

constexpr Fault kRows[] = {
    {"scale-floor", "scale", "exponent is floor(log2(amax / max)), not ceil",
     "any block whose amax / max is not a power of two", kQuantises, &RoundBy<ScaleRounding::kFloor>},
    {"scale-nearest", "scale", "exponent rounded to nearest", "mantissa of amax / max in (1, 1.41)", kQuantises,
     &RoundBy<ScaleRounding::kNearest>},
    {"scale-ocp-ceil", "scale", "ceil(log2 amax) - 8", "amax 150: byte 127 instead of 126", kQuantises,
     &RoundBy<ScaleRounding::kOcpCeil>},
    {"scale-ocp-floor", "scale", "floor(log2 amax) - floor(log2 max)", "mantissa of amax above that of max", kQuantises,
     &RoundBy<ScaleRounding::kOcpFloor>},
    {"scale-ocp-even", "scale", "floor(log2 amax') - floor(log2 max), amax' rounded to the codes' mantissa",
     "mantissa of amax just above that of max", kQuantises, &RoundBy<ScaleRounding::kOcpEven>},
    {"scale-ceil-both", "scale", "ceil(log2 amax) - ceil(log2 max)", "mantissa of amax above that of max", kQuantises,
     &ReplaceExponent<&CeilOfBoth>},
    {"scale-approx-log2", "scale", "bare lg2.approx: one too high at exact powers below one",
     "amax = 1.75 * 2^k (E4M3), 1.5 * 2^k (E2M1), k small", kQuantises, &ReplaceExponent<&ApproxLog2>},
    {"scale-ln-log2", "scale", "logf(x) * (1 / ln 2), then ceil",
     "amax an exact power times 448 or 6, exponents -31, -30, -27, -26, -15, -13", kQuantises,
     &ReplaceExponent<&NaturalLog>},
    {"scale-double-at-power", "scale", "exponent + 1 even when the ratio is an exact power", "amax = 448 * 2^k",
     kQuantises, &ReplaceExponent<&OneUpAtPower>},
    {"scale-one-up", "scale", "exponent one too high", "any", kQuantises, &ReplaceExponent<&OffBy<1>>},
    {"scale-one-down", "scale", "exponent one too low", "any", kQuantises, &ReplaceExponent<&OffBy<-1>>},
    {"scale-at-least-one", "scale", "no scale below 1", "amax below half the maximum code", kQuantises,
     &ReplaceExponent<&NotBelowOne>},
    {"scale-even", "scale", "only even exponents", "any odd exponent", kQuantises, &ReplaceExponent<&EvenExponent>},
    {"scale-unclamped", "scale", "MXFP4 exponents are not clamped to +-127", "an infinite absmax", kFp4Codes,
     &ReplaceExponent<&Unclamped>},
    {"scale-clamp-126", "scale", "exponents clamped to +-126", "an infinite or overflowing absmax", kQuantises,
     &ReplaceExponent<&NormalRangeOnly>},
    {"scale-by-reciprocal", "scale", "exponent from fp32 amax * (1 / max)", "no amax", kQuantises,
     &ReplaceExponent<&ByReciprocal>, FaultClass::kEquivalent,
     "fp32(1 / 448) and fp32(1 / 6) are such that the rounded product passes a power of two exactly where the real "
     "quotient does, for every fp32 amax at or above the floor: checked for all of them."},
    {"scale-by-division", "scale", "exponent from fp32 amax / max", "no amax", kQuantises,
     &ReplaceExponent<&ByDivision>, FaultClass::kEquivalent,
     "The least amax above max * 2^k lies 0.57 (448, 224) or 0.67 (6) ulp of the quotient above 2^k, the largest one "
     "below it farther than that below: a rounded quotient does not become the power. Checked for all amax."},
    {"fp8-divisor-240", "scale", "240 in place of 448 for e4m3fn in the scale", "nearly every block", kFp8Codes,
     &DivideBy<0>},
    {"fp8-divisor-224", "scale", "224 in place of 448 for e4m3fn in the scale", "any block", kFp8Codes, &DivideBy<1>},
    {"fp8-divisor-256", "scale", "256 in place of 448 in the scale", "amax mantissa in (1, 1.75]", kFp8Codes,
     &DivideBy<2>},
    {"fp8-divisor-464", "scale", "464 in place of 448 in the scale", "amax mantissa in (1.75, 1.8125]", kFp8Codes,
     &DivideBy<3>},
    {"fnuz-divisor-240", "scale", "240 in place of 224 for e4m3fnuz in the scale", "amax mantissa in (1.75, 1.875]",
     kQFp8, &FnuzDivisor240},
    {"fnuz-divisor-448", "scale", "448 in place of 224 for e4m3fnuz in the scale", "any e4m3fnuz block", kQFp8,
     &FnuzDivisor448},
    {"fp4-divisor-4", "scale", "4 in place of 6 in the scale", "amax mantissa in (1, 1.5]", kFp4Codes, &Mxfp4Divisor4},
    {"fp4-divisor-8", "scale", "8 in place of 6 in the scale", "amax mantissa above 1.5", kFp4Codes, &Mxfp4Divisor8},
    {"scale-floor-on-scale", "scale", "floor put on the scale instead of on amax",
     "zero block: byte 114 instead of 105", kQuantises, &ReplaceExponent<&FloorOnScale>},
    {"scale-no-floor", "scale", "no amax floor", "zero block: FP8 byte 0 and codes 0x7E (0 * inf), MXFP4 byte 0",
     kQuantises, &NoFloor},
    {"scale-floor-1e-10", "scale", "FP8 floor 1e-10", "an FP8 block below 1e-4", kFp8Codes, &Fp8FloorOneTenth},
    {"scale-floor-1e-3", "scale", "FP8 floor 1e-3", "an FP8 block below 1e-3", kFp8Codes, &Fp8FloorLarge},
    {"fp4-floor-of-fp8", "scale", "MXFP4 floor 1e-4", "an MXFP4 block below 1e-4", kFp4Codes, &Mxfp4FloorOfFp8},
    {"fp4-floor-without-6", "scale", "MXFP4 floor 2^-126, not 6 * 2^-126", "a zero MXFP4 block", kFp4Codes,
     &Mxfp4FloorLow},
    {"amax-signed", "scale", "max(x), not max(abs(x))", "the largest magnitude is negative", kQuantises,
     &ReplaceAbsmax<&SignedMax>},
    {"amax-of-min", "scale", "-min(x)", "the largest magnitude is positive", kQuantises, &ReplaceAbsmax<&MinusMin>},
    {"amax-skip-last", "scale", "last lane of a block left out of amax",
     "the largest magnitude is the block's last element", kQuantises, &ReplaceAbsmax<&SkipLast>},
    {"amax-skip-first", "scale", "first lane of a block left out of amax",
     "the largest magnitude is the block's first element", kQuantises, &ReplaceAbsmax<&SkipFirst>},
    {"amax-first-half", "scale", "absmax of a block's first half", "the maximum in the second half", kQuantises,
     &ReplaceAbsmax<&FirstHalf>},
    {"amax-last-half", "scale", "absmax of a block's second half", "the maximum in the first half", kQuantises,
     &ReplaceAbsmax<&LastHalf>},
    {"amax-odd", "scale", "absmax over odd elements only", "the maximum at an even index", kQuantises,
     &ReplaceAbsmax<&EveryOther<1>>},
    {"fp4-amax-even", "scale", "absmax over even elements only", "the maximum at an odd index", kFp4Codes, &EvenOnFp4},
    {"amax-half-range", "scale", "half of max - min", "a block that is not symmetric", kQuantises,
     &ReplaceAbsmax<&Spread>},
    {"amax-nan", "scale", "a NaN counts in the absmax", "a NaN", kQuantises, &ReplaceAbsmax<&NanCounts>},
    {"amax-before-rope", "scale", "absmax of the unrotated values (head 128)", "RoPE that changes the maximum",
     kHead128Stores, &ReplaceQuantise<&AbsmaxBeforeRope>},
    {"amax-no-bf16", "scale", "absmax of fp32 values, codes from bf16 ones",
     "amax just above a power of two times 448 that bf16 rounds down", kQuantises, &ReplaceQuantise<&AbsmaxOfFp32>},
    {"scale-shared", "scale", "one scale for the whole token", "blocks with different amax", kUe8m0Scales,
     &ReplaceQuantise<&Shared>},
    {"scale-neighbour", "scale", "block i uses the scale of block i + 1", "blocks with different amax", kUe8m0Scales,
     &ReplaceQuantise<&OfOtherBlock<1>>},
    {"scale-previous", "scale", "block i uses the scale of block i - 1", "blocks with different amax", kUe8m0Scales,
     &ReplaceQuantise<&OfOtherBlock<-1>>},
    {"scale-reversed", "scale", "scales stored in reverse order", "blocks with different amax", kUe8m0Scales,
     &ReplaceQuantise<&StoredReversed>},
    {"scale-first-stored", "scale", "every stored scale is the first block's", "blocks with different amax",
     kUe8m0Scales, &ReplaceQuantise<&StoredFirst>},
    {"scale-stored-not-used", "scale", "codes made with the unrounded amax / max, only the stored scale rounded up",
     "amax 450", kQuantises, &ReplaceQuantise<&CodesByRawScale>},
    {"scale-used-not-stored", "scale", "codes made with the rounded scale, the raw one stored", "amax 890", kQuantises,
     &ReplaceQuantise<&RawScaleStored>},
    {"scale-mantissa-leak", "scale", "raw amax / max packed as bytes without rounding or masking",
     "any amax / max that is no power of two", kQuantises, &ReplaceQuantise<&MantissaLeak>},
    {"scale-byte-wrap", "scale", "exponent + 127 wraps instead of clamping", "infinite normed value (huge norm weight)",
     kHead512Stores, &ReplaceStored<&Wraps>},
    {"scale-byte-254", "scale", "an infinite scale stored as 254", "infinite normed value (huge norm weight)",
     kHead512Stores, &ReplaceStored<&TopByteInfinite>},
    {"scale-bias-126", "scale", "UE8M0 bias 126", "any", kUe8m0Scales, &ReplaceStored<&OtherBias<126>>},
    {"scale-bias-128", "scale", "UE8M0 bias 128", "any", kUe8m0Scales, &ReplaceStored<&OtherBias<128>>},
    {"scale-inverse", "scale", "the reciprocal of the scale stored", "scale other than 1", kUe8m0Scales | kFp8Indexer,
     &ReplaceStored<&InverseScale>},
    {"store-scale-fp32", "scale", "indexer FP8 scale stored as a UE8M0 byte", "any", kFp8Indexer,
     &ReplaceStored<&ByteInWord>},
    {"store-scale-bf16", "scale", "indexer FP8 scale stored as bf16", "any", kFp8Indexer, &ReplaceStored<&HalfInWord>},
    {"store-scale-big-endian", "scale", "indexer FP8 scale stored with its bytes reversed", "any", kFp8Indexer,
     &ReplaceStored<&BigEndian>},
};

}  // namespace

std::span<const Fault> ScaleFaults() { return kRows; }

}  // namespace kvexact
