// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/formats/bf16.h"
#include "reference/formats/decode.h"

namespace kvexact {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr std::uint8_t kInfinities = kPosInf | kNegInf;

// The candidate of smallest magnitude.
float Smallest(float lo, float hi) {
  if (lo <= 0 && hi >= 0) return 0;
  return lo > 0 ? lo : hi;
}

float Largest(float lo, float hi) { return -lo > hi ? lo : hi; }

// The bf16 (or, for an fp32 candidate, bf16-spaced) neighbour towards zero of a magnitude above zero.
float StepDown(float magnitude) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) - 0x10000U); }

}  // namespace

int CodeKey(const spec::Format& format, std::uint32_t code) {
  const std::uint32_t sign = 1U << (format.bits - 1);
  const auto magnitude = static_cast<int>(code & (sign - 1));
  return (code & sign) != 0 ? -1 - magnitude : magnitude;
}

bool CodeSet::contains(const spec::Format& format, std::uint8_t code) const {
  const int key = CodeKey(format, code);
  if (key >= lo && key <= hi && !(format.canonical_nan != 0 && code == format.canonical_nan)) return true;
  return std::find(points, points + point_count, code) != points + point_count;
}

int CodeSet::members(const spec::Format& format) const {
  int count = hi < lo ? 0 : hi - lo + 1;
  // Both zeros count as one; E4M3FNUZ has no code at the key of -0.
  if (lo <= -1 && hi >= 0) --count;
  for (int i = 0; i < point_count; ++i) {
    const int key = CodeKey(format, points[i]);
    if (key < lo || key > hi) ++count;
  }
  return count;
}

std::string ExponentSet::Text() const {
  std::string text;
  if (lo <= hi) text = lo == hi ? fmt::format("2^{}", lo) : fmt::format("2^{} .. 2^{}", lo, hi);
  if (infinite) text += text.empty() ? "infinity" : " or infinity";
  return text;
}

std::string ScaleText(spec::ScaleType type, std::uint32_t stored) {
  const bool byte = type == spec::ScaleType::kUe8m0Byte;
  const double value = byte ? Decode(spec::kUe8m0, stored) : std::bit_cast<float>(stored);
  int exponent = 0;
  const bool power = std::frexp(value, &exponent) == 0.5;
  return fmt::format("0x{:0{}X} ({})", stored, byte ? 2 : 8,
                     power ? fmt::format("2^{}", exponent - 1) : fmt::format("{:g}", value));
}

std::string CodeSet::text(const spec::Format& format) const {
  const auto code_of = [&](int key) {
    return key >= 0 ? static_cast<std::uint32_t>(key)
                    : (1U << (format.bits - 1)) | static_cast<std::uint32_t>(-1 - key);
  };
  std::string out;
  if (lo <= hi) {
    out = fmt::format("0x{:02X} ({:g})", code_of(lo), Decode(format, code_of(lo)));
    if (hi > lo) out += fmt::format(" .. 0x{:02X} ({:g})", code_of(hi), Decode(format, code_of(hi)));
  }
  for (int i = 0; i < point_count; ++i) out += fmt::format("{}0x{:02X}", out.empty() ? "" : " or ", points[i]);
  return out.empty() ? "nothing at this scale" : out;
}

Block::Block(const Stages& stages, const QuantiseRule& rule, SmallestFactor smallest, const Candidates& candidates,
             int first, int count)
    : stages_(&stages), rule_(&rule), candidates_(&candidates), first_(first), count_(count) {
  // Any absmax rule that grows or falls with each element takes its extremes at these four choices.
  float choice[4][kMaxHeadDim];
  bool infinite = false;
  bool must_be_infinite = false;
  for (int i = 0; i < count; ++i) {
    float least = lo(i);
    float most = hi(i);
    if ((classes(i) & kFinite) == 0) least = most = 0;
    const bool skippable = (classes(i) & (kZero | kNan)) != 0;
    if (skippable) {
      least = std::min(least, 0.0F);
      most = std::max(most, 0.0F);
    }
    choice[0][i] = least;
    choice[1][i] = most;
    choice[2][i] = Smallest(least, most);
    choice[3][i] = Largest(least, most);
    infinite |= (classes(i) & kInfinities) != 0;
    must_be_infinite |= (classes(i) & ~kInfinities) == 0;
  }
  float low = kInf;
  float high = 0;
  for (const auto& values : choice) {
    const float absmax = stages.absmax(rule, {values, static_cast<std::size_t>(count)});
    low = std::min(low, absmax);
    high = std::max(high, absmax);
  }
  // bf16 rounding may carry a finite value to infinity.
  infinite |= high == kInf;
  if (high == kInf) {
    high = std::max(low == kInf ? 0.0F : low, WidenBf16(0x7F7F));
    must_be_infinite |= low == kInf;
  }
  exponents_ = {stages.exponent(rule, low == kInf ? high : low), stages.exponent(rule, high), false, false};
  if (must_be_infinite) exponents_.hi = exponents_.lo - 1;
  if (infinite) {
    const int e = stages.exponent(rule, kInf);
    if (e == kInfiniteExponent) {
      exponents_.infinite = true;
    } else if (must_be_infinite) {
      exponents_.lo = exponents_.hi = e;
    } else {
      exponents_.hi = std::max(exponents_.hi, e);
    }
    exponents_.flushed = !exponents_.infinite && e == 127 && smallest == SmallestFactor::kMayBeFlushed;
  }
}

int Block::exponent_of(float magnitude) const {
  return stages_->exponent(*rule_, std::max(magnitude, rule_->amax_floor));
}

bool Block::clip(float& lo, float& hi, int e) const {
  if (e == kInfiniteExponent) return true;
  while (hi > 0 && exponent_of(hi) > e) {
    hi = StepDown(hi);
    if (hi < lo) return false;
  }
  while (lo < 0 && exponent_of(-lo) > e) {
    lo = -StepDown(-lo);
    if (lo > hi) return false;
  }
  return lo <= hi && exponent_of(std::fabs(Largest(lo, hi))) <= e;
}

bool Block::plain(int i) const { return classes(i) == kFinite && !(lo(i) <= 0 && hi(i) >= 0); }

void Block::end_codes(int e, std::uint8_t* lo_codes, std::uint8_t* hi_codes) const {
  const auto size = static_cast<std::size_t>(count_);
  stages_->encode(*rule_, {candidates_->lo + first_, size}, e, lo_codes);
  stages_->encode(*rule_, {candidates_->hi + first_, size}, e, hi_codes);
}

CodeSet Block::codes(int i, int e) const {
  const spec::Format& format = *rule_->format;
  CodeSet set;
  const auto encode = [&](float x) {
    std::uint8_t code = 0;
    stages_->encode(*rule_, {&x, 1}, e, &code);
    return code;
  };
  const auto widen = [&](int low, int high) {
    if (set.lo > set.hi) {
      set.lo = low;
      set.hi = high;
    } else {
      set.lo = std::min(set.lo, low);
      set.hi = std::max(set.hi, high);
    }
  };
  if ((classes(i) & kFinite) != 0) {
    float low = lo(i);
    float high = hi(i);
    if (e == kInfiniteExponent) {
      // Finite candidates become zeros of their sign; one that bf16 carried to infinity is NaN.
      if (high > 0 && low < kInf) widen(0, 0);
      if (low < 0 && high > -kInf) widen(-1, -1);
      if (low <= 0 && high >= 0) widen(-1, 0);
      if (high == kInf || low == -kInf) set.points[set.point_count++] = rule_->nan_code;
    } else if (clip(low, high, e)) {
      const int a = CodeKey(format, encode(low));
      const int b = CodeKey(format, encode(high));
      widen(std::min(a, b), std::max(a, b));
      if (low <= 0 && high >= 0) widen(std::min(set.lo, -1), std::max(set.hi, 0));
    }
  }
  if ((classes(i) & kZero) != 0) {
    if (set.lo > set.hi) {
      widen(-1, 0);
    } else {
      set.points[set.point_count++] = encode(0.0F);
      set.points[set.point_count++] = encode(-0.0F);
    }
  }
  if ((classes(i) & kNan) != 0) set.points[set.point_count++] = rule_->nan_code;
  if ((classes(i) & kInfinities) != 0 && (e == kInfiniteExponent || e == stages_->exponent(*rule_, kInf))) {
    if ((classes(i) & kPosInf) != 0) set.points[set.point_count++] = encode(kInf);
    if ((classes(i) & kNegInf) != 0 && set.point_count < 4) set.points[set.point_count++] = encode(-kInf);
  }
  return set;
}

bool Block::reaches(int e, const std::uint8_t* observed) const {
  if (e <= exponents_.lo) return true;
  for (int i = 0; i < count_; ++i) {
    if (e == kInfiniteExponent) {
      if ((classes(i) & kInfinities) != 0 || std::fabs(Largest(lo(i), hi(i))) == kInf) return true;
      continue;
    }
    if ((classes(i) & kInfinities) != 0 && e == stages_->exponent(*rule_, kInf)) return true;
    if ((classes(i) & kFinite) == 0) continue;
    // The candidates at the outer end whose own exponent is e.
    for (const float sign : {1.0F, -1.0F}) {
      float low = sign > 0 ? lo(i) : -hi(i);
      float high = sign > 0 ? hi(i) : -lo(i);
      if (high <= 0 || exponent_of(high) < e) continue;
      float clipped = std::max(low, 0.0F);
      if (!clip(clipped, high, e) || exponent_of(high) != e) continue;
      for (float x = high; x >= clipped && x > 0 && exponent_of(x) == e; x = StepDown(x)) {
        const float value = sign * x;
        std::uint8_t code = 0;
        stages_->encode(*rule_, {&value, 1}, e, &code);
        if (code == observed[i]) return true;
        if (std::bit_cast<std::uint32_t>(x) < 0x10000U) break;
      }
    }
  }
  return false;
}

}  // namespace kvexact
