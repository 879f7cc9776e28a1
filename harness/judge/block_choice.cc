// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/block_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "reference/formats/bf16.h"

namespace kvexact {
namespace {

constexpr std::uint16_t kPosInfBits = 0x7F80;
constexpr std::uint16_t kNegInfBits = 0xFF80;

// Fills `choice` for exponent e and returns the number of codes that it does not explain.
int Try(const Block& block, const spec::Format& format, int e, const std::uint8_t* observed, BlockChoice& choice) {
  std::uint8_t hi[kMaxHeadDim];
  block.end_codes(e, choice.lo, hi);
  const bool clipped = e != kInfiniteExponent && (e < block.exponents().hi || block.exponents().infinite);
  int unexplained = 0;
  for (int i = 0; i < block.count(); ++i) {
    choice.plain[i] = !clipped && choice.lo[i] == hi[i] && block.plain(i);
    const bool explained =
        choice.plain[i] ? observed[i] == choice.lo[i] : block.codes(i, e).contains(format, observed[i]);
    unexplained += explained ? 0 : 1;
  }
  choice.exponent = e;
  choice.reached = block.reaches(e, observed);
  return unexplained + (choice.reached ? 0 : 1);
}

}  // namespace

BlockChoice ChooseExponent(const Block& block, const std::uint8_t* observed, const std::function<bool(int)>& matches) {
  const ExponentSet& set = block.exponents();
  BlockChoice best;
  int fewest = -1;
  const auto attempt = [&](int e, bool stored) {
    BlockChoice choice;
    const int unexplained = Try(block, block.format(), e, observed, choice);
    choice.stored = stored;
    if (fewest < 0 || unexplained < fewest) {
      fewest = unexplained;
      best = choice;
    }
  };
  for (const bool stored : {true, false}) {
    for (int e = set.lo; e <= set.hi && fewest != 0; ++e) {
      if (!stored || matches(e)) attempt(e, stored);
    }
    if (set.infinite && fewest != 0 && (!stored || matches(kInfiniteExponent))) attempt(kInfiniteExponent, stored);
    if (set.flushed && fewest != 0 && (!stored || matches(set.hi))) attempt(kInfiniteExponent, stored);
    if (fewest >= 0) return best;
  }
  return best;
}

Bf16Set::Bf16Set(const Candidates& candidates, int i) : classes_(candidates.classes[i]) {
  if ((classes_ & kFinite) == 0) return;
  const float lo = candidates.lo[i];
  const float hi = candidates.hi[i];
  lo_ = Bf16Key(RoundToBf16(lo));
  hi_ = Bf16Key(RoundToBf16(hi));
  if (lo <= 0 && hi >= 0) {
    lo_ = std::min(lo_, -1);
    hi_ = std::max(hi_, 0);
  }
}

bool Bf16Set::contains(std::uint16_t bits) const {
  if ((bits & 0x7FFFU) > kPosInfBits) return (classes_ & kNan) != 0;
  const int key = Bf16Key(bits);
  if (key >= lo_ && key <= hi_) return true;
  if ((classes_ & kZero) != 0 && (bits & 0x7FFFU) == 0) return true;
  return (bits == kPosInfBits && (classes_ & kPosInf) != 0) || (bits == kNegInfBits && (classes_ & kNegInf) != 0);
}

int Bf16Set::members() const {
  int count = hi_ < lo_ ? 0 : hi_ - lo_ + 1;
  const bool zero_inside = lo_ <= -1 && hi_ >= 0;
  if (zero_inside) --count;
  if ((classes_ & kZero) != 0 && !zero_inside) ++count;
  if ((classes_ & kNan) != 0) ++count;
  if ((classes_ & kPosInf) != 0 && hi_ < Bf16Key(kPosInfBits)) ++count;
  if ((classes_ & kNegInf) != 0 && (hi_ < lo_ || lo_ > Bf16Key(kNegInfBits))) ++count;
  return count;
}

std::string Bf16Set::text() const {
  const auto bits_of = [](int key) { return static_cast<std::uint16_t>(key >= 0 ? key : 0x8000 | (-1 - key)); };
  std::string out;
  if (lo_ <= hi_) {
    out = fmt::format("0x{:04X} ({:g})", bits_of(lo_), WidenBf16(bits_of(lo_)));
    if (hi_ > lo_) out += fmt::format(" .. 0x{:04X} ({:g})", bits_of(hi_), WidenBf16(bits_of(hi_)));
  }
  const auto add = [&](bool present, const char* what) {
    if (present) out += fmt::format("{}{}", out.empty() ? "" : " or ", what);
  };
  add((classes_ & kZero) != 0, "zero");
  add((classes_ & kPosInf) != 0, "inf");
  add((classes_ & kNegInf) != 0, "-inf");
  add((classes_ & kNan) != 0, "NaN");
  return out;
}

}  // namespace kvexact
