// SPDX-License-Identifier: Apache-2.0
// Steps that faults take on rows, written once over both arithmetics.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "harness/faults/fault.h"

namespace kvexact {

// Puts a template's two instances into an entry: Stage::Run<A>.
template <class Stage>
void ReplaceMean(Variant& v) {
  v.stages.strict.weighted_mean = &Stage::template Run<Strict>;
  v.stages.enclosure.weighted_mean = &Stage::template Run<Enclosure>;
}
template <class Stage>
void ReplaceNorm(Variant& v) {
  v.stages.strict.rms_norm = &Stage::template Run<Strict>;
  v.stages.enclosure.rms_norm = &Stage::template Run<Enclosure>;
}
template <class Stage>
void ReplaceRope(Variant& v) {
  v.stages.strict.rope = &Stage::template Run<Strict>;
  v.stages.enclosure.rope = &Stage::template Run<Enclosure>;
}

// Gives every column its own radius, without a common factor.
inline void Flatten(Enclosure::Row& row) {
  for (int i = 0; i < row.columns; ++i) {
    const EnclosedValue value = Enclosure::At(row, i);
    row.mid[i] = value.mid;
    row.rad[i] = value.rad;
  }
  row.common = 0;
}

inline void MarkPlain(Enclosure::Row& row) {
  row.plain = std::all_of(row.classes, row.classes + row.columns, [](std::uint8_t c) { return c == kFinite; });
}

// columns[i] = f(columns[i]) for i in [first, first + count), f a rounding: it does not fall.
template <class F>
void RoundColumns(const Strict&, Strict::Row& row, int first, int count, const F& f) {
  for (int i = first; i < first + count; ++i) row.value[i] = f(row.value[i]);
}
template <class F>
void RoundColumns(const Enclosure&, Enclosure::Row& row, int first, int count, const F& f) {
  Flatten(row);
  for (int i = first; i < first + count; ++i) {
    const Fp32Interval ends = Enclosure::ToFp32(Enclosure::At(row, i));
    const double lo = f(ends.lo);
    const double hi = f(ends.hi);
    if ((row.classes[i] & kFinite) == 0 || !std::isfinite(lo) || !std::isfinite(hi)) continue;
    row.mid[i] = 0.5 * lo + 0.5 * hi;
    row.rad[i] = (0.5 * hi - 0.5 * lo) * (1 + 0x1p-48);
  }
}

// columns[i] = old columns[from(i)].
template <class From>
void Rearrange(Strict::Row& row, const From& from) {
  const Strict::Row old = row;
  for (int i = 0; i < row.columns; ++i) row.value[i] = old.value[from(i)];
}
template <class From>
void Rearrange(Enclosure::Row& row, const From& from) {
  const Enclosure::Row old = row;
  for (int i = 0; i < row.columns; ++i) {
    row.mid[i] = old.mid[from(i)];
    row.rad[i] = old.rad[from(i)];
    row.classes[i] = old.classes[from(i)];
  }
}

// Columns for which keep(i) is false become those of `other`.
template <class Keep>
void Restore(Strict::Row& row, const Strict::Row& other, const Keep& keep) {
  for (int i = 0; i < row.columns; ++i) {
    if (!keep(i)) row.value[i] = other.value[i];
  }
}
template <class Keep>
void Restore(Enclosure::Row& row, const Enclosure::Row& given, const Keep& keep) {
  Enclosure::Row other = given;
  Flatten(row);
  Flatten(other);
  for (int i = 0; i < row.columns; ++i) {
    if (keep(i)) continue;
    row.mid[i] = other.mid[i];
    row.rad[i] = other.rad[i];
    row.classes[i] = other.classes[i];
  }
  MarkPlain(row);
}

// Columns for which keep(i) is false become +0.
template <class A, class Keep>
void ZeroColumns(const A& a, typename A::Row& row, const Keep& keep) {
  static constexpr std::array<float, kMaxHeadDim> kZeros{};
  typename A::Row zeros;
  a.Assign({kZeros.data(), static_cast<std::size_t>(row.columns)}, zeros);
  Restore(row, zeros, keep);
}

// A value after a function that does not rise or does not fall, computed in double; its result is a few roundings off.
template <class F>
float Monotone(const Strict&, float x, const F& f) {
  return static_cast<float>(f(static_cast<double>(x)));
}
template <class F>
EnclosedValue Monotone(const Enclosure&, EnclosedValue x, const F& f) {
  const double a = f(x.mid - x.rad);
  const double b = f(x.mid + x.rad);
  const double slack = 16 * 0x1p-24 * std::max(std::fabs(a), std::fabs(b));
  EnclosedValue out = x;
  out.mid = 0.5 * (a + b);
  out.rad = 0.5 * std::fabs(a - b) + slack;
  return out;
}

}  // namespace kvexact
