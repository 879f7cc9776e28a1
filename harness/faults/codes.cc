// SPDX-License-Identifier: Apache-2.0
// Codes of the right values in another order, and roundings by which way they go.
#include <algorithm>
#include <array>
#include <cmath>

#include "harness/faults/fault.h"
#include "reference/formats/decode.h"
#include "reference/formats/encode.h"

namespace kvexact {
namespace {

using Values = std::span<const float>;

bool IsFp4(const QuantiseRule& rule) { return rule.format == &spec::kE2M1; }

std::uint8_t Code(const QuantiseRule& rule, float x, Rounding rounding) {
  return static_cast<std::uint8_t>(Encode(*rule.format, x, rounding, Overflow::kSaturate));
}

// Every finite scaled value by `kCode`; NaN as it should be.
using CodeOf = std::uint8_t (*)(const QuantiseRule&, float);
template <bool kFp4, CodeOf kCode>
void ReplaceCode(Variant& v) {
  v.stages.encode = [](const QuantiseRule& rule, Values values, int exponent, std::uint8_t* codes) {
    if (IsFp4(rule) != kFp4) return EncodeBlock(rule, values, exponent, codes);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float scaled = values[i] * PowerOfTwo(-exponent);
      codes[i] = scaled != scaled ? rule.nan_code : kCode(rule, std::clamp(scaled, -rule.clamp, rule.clamp));
    }
  };
}
std::uint8_t Floor(const QuantiseRule& rule, float x) {
  return Code(rule, x, std::signbit(x) ? Rounding::kAwayFromZero : Rounding::kTowardZero);
}
std::uint8_t Ceil(const QuantiseRule& rule, float x) {
  return Code(rule, x, std::signbit(x) ? Rounding::kTowardZero : Rounding::kAwayFromZero);
}
std::uint8_t TiesDown(const QuantiseRule& rule, float x) { return Code(rule, x, Rounding::kTiesDown); }
std::uint8_t TiesOdd(const QuantiseRule& rule, float x) {
  const std::uint8_t to_zero = Code(rule, x, Rounding::kTiesToZero);
  const std::uint8_t away = Code(rule, x, Rounding::kTiesAway);
  return to_zero == away || to_zero % 2 == 1 ? to_zero : away;
}
// The largest code stands for no number.
std::uint8_t TopIsNan(const QuantiseRule& rule, float x) {
  const std::uint8_t code = Code(rule, x, rule.rounding);
  return (code & 0x7F) == 0x7E ? static_cast<std::uint8_t>(code | 0x7F) : code;
}

// Codes of a token or head in another order: element i gets the code of from(i, values, block).
using Source = std::size_t (*)(std::size_t i, std::size_t values, std::size_t block);
template <Source kFrom>
void Reorder(Variant& v) {
  v.stages.quantise = [](const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
    QuantiseBlocks(stages, task, out);
    const std::size_t n = task.values.size();
    std::array<std::uint8_t, kMaxHeadDim> codes{};
    for (std::size_t i = 0; i < n; ++i) codes[i] = out.codes[kFrom(i, n, static_cast<std::size_t>(task.block))];
    std::copy_n(codes.begin(), n, out.codes);
  };
}
std::size_t BlocksReversed(std::size_t i, std::size_t n, std::size_t block) {
  return n - block - i / block * block + i % block;
}
std::size_t WordsReversed(std::size_t i, std::size_t, std::size_t) { return i ^ 3U; }
std::size_t PairsSwapped(std::size_t i, std::size_t, std::size_t) { return i ^ 1U; }
std::size_t OneLate(std::size_t i, std::size_t n, std::size_t) { return (i + n - 1) % n; }
std::size_t LastRepeats(std::size_t i, std::size_t, std::size_t block) { return i % block == block - 1 ? i - 1 : i; }
std::size_t LanesInterleaved(std::size_t i, std::size_t n, std::size_t) { return i % 32 * (n / 32) + i / 32; }
std::size_t FirstBlock(std::size_t i, std::size_t, std::size_t block) { return i % block; }

constexpr Fault kRows[] = {
    {"fp8-floor", "quantise", "rounds towards -infinity", "any value off the grid", kFp8Codes,
     &ReplaceCode<false, &Floor>},
    {"fp8-ceil", "quantise", "rounds towards +infinity", "any value off the grid", kFp8Codes,
     &ReplaceCode<false, &Ceil>},
    {"fp8-ties-down", "quantise", "ties towards -infinity", "4.75, -4.25", kFp8Codes, &ReplaceCode<false, &TiesDown>},
    {"fp8-ties-odd", "quantise", "ties to the odd code", "4.25", kFp8Codes, &ReplaceCode<false, &TiesOdd>},
    {"fp8-top-is-nan", "quantise", "448 (224 of e4m3fnuz) stored as NaN", "a scaled value of 448 (224)", kFp8Codes,
     &ReplaceCode<false, &TopIsNan>},
    {"fp4-floor", "quantise", "rounds towards -infinity", "any value off the grid", kFp4Codes,
     &ReplaceCode<true, &Floor>},
    {"fp4-round-up", "quantise", "rounds towards +infinity", "any value off the grid", kFp4Codes,
     &ReplaceCode<true, &Ceil>},
    {"fp4-ties-odd", "quantise", "ties to the odd code", "0.25, 1.25", kFp4Codes, &ReplaceCode<true, &TiesOdd>},
    {"fp4-ties-to-minus", "quantise", "E2M1 ties towards -infinity", "-0.25, 0.75", kFp4Codes,
     &ReplaceCode<true, &TiesDown>},
    {"codes-blocks-reversed", "quantise", "codes of the blocks in reverse order", "two blocks that differ", kQuantises,
     &Reorder<&BlocksReversed>},
    {"codes-words-reversed", "quantise", "codes of every four elements in reverse order", "distinct values", kQuantises,
     &Reorder<&WordsReversed>},
    {"codes-pairs-swapped", "quantise", "codes of neighbours swapped", "distinct values", kQuantises,
     &Reorder<&PairsSwapped>},
    {"codes-one-late", "quantise", "code of the element before", "distinct values", kQuantises, &Reorder<&OneLate>},
    {"codes-last-repeats", "quantise", "a block's last code is that of the element before", "distinct values",
     kQuantises, &Reorder<&LastRepeats>},
    {"codes-lanes-interleaved", "quantise", "codes in the order of 32 lanes, not of the elements", "distinct values",
     kQuantises, &Reorder<&LanesInterleaved>},
    {"codes-first-block", "quantise", "codes of the first block for every block", "two blocks that differ", kQuantises,
     &Reorder<&FirstBlock>},
};

}  // namespace

std::span<const Fault> CodeFaults() { return kRows; }

}  // namespace kvexact
