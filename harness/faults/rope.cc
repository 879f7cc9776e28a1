// SPDX-License-Identifier: Apache-2.0
// The rotation: which angles turn which columns, and how.
#include "harness/faults/bounded.h"
#include "harness/faults/rows.h"
#include "reference/formats/bf16.h"

namespace kvexact {
namespace {

float Bf16(float x) { return WidenBf16(RoundToBf16(x)); }

std::int64_t Bounded(std::int64_t position) { return std::clamp<std::int64_t>(position, 0, std::int64_t{1} << 40); }

std::int64_t RowStride(const RopeSite& site) { return site.cos_sin->outerStride(); }

std::int64_t WindowStart(const RopeSite& site) { return Bounded(site.position) / site.ratio * site.ratio; }

// Another row of the table, by `kRow`.
using RowOfSite = std::int64_t (*)(const RopeSite&);
template <RowOfSite kRow>
void ReplaceAngleRow(Variant& v) {
  v.stages.angles = [](const RopeSite& site) { return AnglesFrom(site, kRow(site) * RowStride(site)); };
}

std::int64_t RawPosition(const RopeSite& site) { return Bounded(site.position); }
std::int64_t WindowIndex(const RopeSite& site) { return Bounded(site.position) / site.ratio; }
std::int64_t NextWindow(const RopeSite& site) { return WindowStart(site) + site.ratio; }
std::int64_t PreviousWindow(const RopeSite& site) { return std::max<std::int64_t>(WindowStart(site) - site.ratio, 0); }
std::int64_t NextPosition(const RopeSite& site) { return Bounded(site.position) + 1; }
std::int64_t RowZero(const RopeSite&) { return 0; }
std::int64_t WindowMiddle(const RopeSite& site) { return WindowStart(site) + site.ratio / 2; }
template <std::int64_t kRows>
std::int64_t Wrapped(const RopeSite& site) {
  return WindowStart(site) % kRows;
}
// An integer type or a floating-point one that cannot hold the position.
std::int64_t PositionInt16(const RopeSite& site) { return static_cast<std::int16_t>(WindowStart(site)); }
std::int64_t PositionBf16(const RopeSite& site) {
  return static_cast<std::int64_t>(Bf16(static_cast<float>(WindowStart(site))));
}
std::int64_t PositionFp16(const RopeSite& site) {
  std::int64_t step = 1;
  while (WindowStart(site) / step > 2048) step *= 2;
  return (WindowStart(site) + step / 2) / step * step;
}

void RowByHalfStride(Variant& v) {
  v.stages.angles = [](const RopeSite& site) { return AnglesFrom(site, WindowStart(site) * site.rope_dim / 2); };
}

void RowByRopeStride(Variant& v) {
  v.stages.angles = [](const RopeSite& site) { return AnglesFrom(site, WindowStart(site) * site.rope_dim); };
}

// Angles of the right row, changed.
template <class Change>
void ChangeAngles(Variant& v) {
  v.stages.angles = [](const RopeSite& site) {
    RopeAngles angles = BoundedAngles(site);
    Change::Of(site, angles);
    return angles;
  };
}
struct CosForSin {
  static void Of(const RopeSite&, RopeAngles& angles) { angles.sin = angles.cos; }
};
struct SinForCos {
  static void Of(const RopeSite&, RopeAngles& angles) { std::swap(angles.cos, angles.sin); }
};
struct FirstDims {
  static void Of(const RopeSite&, RopeAngles& angles) { angles.first_column = angles.identity_from = 0; }
};
struct NoPairs {
  static void Of(const RopeSite&, RopeAngles& angles) { angles.pairs = 0; }
};
struct HalfThePairs {
  static void Of(const RopeSite&, RopeAngles& angles) { angles.pairs = (angles.pairs + 1) / 2; }
};
struct AllButLastPair {
  static void Of(const RopeSite&, RopeAngles& angles) { angles.pairs -= 1; }
};
struct WholeGroupsOf4 {
  static void Of(const RopeSite&, RopeAngles& angles) { angles.pairs = angles.pairs / 4 * 4; }
};
struct AllButFirstPair {
  static void Of(const RopeSite&, RopeAngles& angles) {
    angles.first_column += 2;
    angles.cos += 1;
    angles.sin += 1;
    angles.pairs -= 1;
  }
};
struct Fixed64 {
  static void Of(const RopeSite& site, RopeAngles& angles) {
    angles.pairs = std::min(angles.pairs, 32);
    angles.first_column = site.head_dim - 2 * angles.pairs;
  }
};
struct NoIdentity {
  static void Of(const RopeSite&, RopeAngles& angles) { angles.identity_from = angles.first_column; }
};
// Sines behind the padded width of the table's row, not behind the cosines.
struct SinBehindRow {
  static void Of(const RopeSite& site, RopeAngles& angles) {
    const std::int64_t half = RowStride(site) / 2;
    angles.sin = angles.cos + std::min<std::int64_t>(half, site.cos_sin->cols() - site.rope_dim / 2);
  }
};

// A rotation with angles in other order or of other sign.
template <class Change>
struct WithAngles {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    float cos[kMaxHeadDim / 2];
    float sin[kMaxHeadDim / 2];
    for (int i = 0; i < angles.pairs; ++i) Change::Of(angles, i, cos[i], sin[i]);
    RopeAngles changed = angles;
    changed.cos = cos;
    changed.sin = sin;
    Rope(a, row, changed);
  }
};
struct Negative {
  static void Of(const RopeAngles& angles, int i, float& cos, float& sin) {
    cos = angles.cos[i];
    sin = -angles.sin[i];
  }
};
struct ByTurns {
  static float At(const RopeAngles& angles, int k) {
    return k < angles.pairs ? angles.cos[k] : angles.sin[k - angles.pairs];
  }
  static void Of(const RopeAngles& angles, int i, float& cos, float& sin) {
    cos = At(angles, 2 * i);
    sin = At(angles, 2 * i + 1);
  }
};
struct NextAngle {
  static void Of(const RopeAngles& angles, int i, float& cos, float& sin) {
    cos = angles.cos[(i + 1) % angles.pairs];
    sin = angles.sin[(i + 1) % angles.pairs];
  }
};
struct HalfAngle {
  static void Of(const RopeAngles& angles, int i, float& cos, float& sin) {
    cos = angles.cos[i / 2];
    sin = angles.sin[i / 2];
  }
};
struct RoundedAngle {
  static void Of(const RopeAngles& angles, int i, float& cos, float& sin) {
    cos = Bf16(angles.cos[i]);
    sin = Bf16(angles.sin[i]);
  }
};

// Column i of the rotated part as it lies where pairs are (i, i + pairs).
int HalfSplit(int i, int pairs) { return i % 2 == 0 ? i / 2 : pairs + i / 2; }
int Interleaved(int i, int pairs) { return i < pairs ? 2 * i : 2 * (i - pairs) + 1; }

// from(i) within the rotated columns, the others stay.
template <class Row, class From>
void RearrangeRotated(Row& row, const RopeAngles& angles, const From& from) {
  const int first = angles.first_column;
  const int end = first + 2 * angles.pairs;
  Rearrange(row, [&](int i) { return i < first || i >= end ? i : first + from(i - first); });
}

struct Neox {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    RearrangeRotated(row, angles, [&](int i) { return HalfSplit(i, angles.pairs); });
    Rope(a, row, angles);
    RearrangeRotated(row, angles, [&](int i) { return Interleaved(i, angles.pairs); });
  }
};

struct StoredByHalves {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    Rope(a, row, angles);
    RearrangeRotated(row, angles, [&](int i) { return Interleaved(i, angles.pairs); });
  }
};

struct OddFirst {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    Rope(a, row, angles);
    RearrangeRotated(row, angles, [](int i) { return i ^ 1; });
  }
};

// o' = o cos + e' sin with the new e'.
struct InPlace {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    const int first = angles.first_column;
    const int end = first + 2 * angles.pairs;
    typename A::Row rotated = row;
    Rope(a, rotated, angles);
    typename A::Row again = row;
    // Even columns new, odd ones old; turned once more, the odd ones are what such code computes.
    Restore(again, rotated, [=](int i) { return i < first || i >= end || i % 2 != 0; });
    Rope(a, again, angles);
    Restore(rotated, again, [=](int i) { return i < first || i >= end || i % 2 == 0; });
    row = rotated;
  }
};

// e' = e cos + o sin, o' = o cos + e sin.
struct BothPlus {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    typename A::Row even = row;
    WithAngles<Negative>::Run(a, even, angles);
    Rope(a, row, angles);
    Restore(row, even, [](int i) { return i % 2 != 0; });
  }
};

struct OddUnturned {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    const typename A::Row given = row;
    Rope(a, row, angles);
    Restore(row, given, [](int i) { return i % 2 == 0; });
  }
};

template <int kHead>
struct FromBf16 {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    if (row.columns == kHead) RoundColumns(a, row, angles.first_column, 2 * angles.pairs, &Bf16);
    Rope(a, row, angles);
  }
};

struct Twice {
  template <class A>
  static void Run(const A& a, typename A::Row& row, const RopeAngles& angles) {
    Rope(a, row, angles);
    Rope(a, row, angles);
  }
};

void WindowOfPrevious(Variant& v) {
  // The first row of an overlapping window, clamped at 0.
  v.stages.angles = [](const RopeSite& site) {
    if (IsQ(site)) return BoundedAngles(site);
    return AnglesFrom(site, std::max<std::int64_t>(Bounded(site.position) - 2 * site.ratio + 1, 0) * RowStride(site));
  };
}

// Beyond the largest finite bf16 value it, not infinity.
float Saturated(float x) {
  constexpr float kMost = 0x1.FEp127F;
  return x > kMost ? kMost : x < -kMost ? -kMost : x;
}
void StoredSaturates(Variant& v) {
  v.stages.round_rope = [](std::span<const float> values, std::uint16_t* out) {
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = RoundToBf16(Saturated(values[i]));
  };
}
void InputSaturates(Variant& v) {
  v.stages.quantise_input = [](std::span<const float> values, float* out) {
    for (std::size_t i = 0; i < values.size(); ++i) out[i] = Bf16(Saturated(values[i]));
  };
}

void TruncateStored(Variant& v) {
  v.stages.round_rope = [](std::span<const float> values, std::uint16_t* out) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(values[i]);
      out[i] = values[i] != values[i] ? RoundToBf16(values[i]) : static_cast<std::uint16_t>(bits >> 16);
    }
  };
}

constexpr Fault kRows[] = {
    {"rope-neox", "rope", "pairs (i, i + 32) instead of (2i, 2i + 1)", "position >= 1, distinct values", kQuantises,
     &ReplaceRope<Neox>},
    {"rope-stored-by-halves", "rope", "rotated values stored as all even ones, then all odd ones", "distinct values",
     kQuantises, &ReplaceRope<StoredByHalves>},
    {"rope-odd-first", "rope", "the two of a pair swapped in the output", "distinct values", kQuantises,
     &ReplaceRope<OddFirst>},
    {"rope-first-dims", "rope", "rotates the first dims, not the last", "any", kQuantises, &ChangeAngles<FirstDims>},
    {"rope-raw-position", "rope", "rotates at the token's position, not at the window's start", "position 7 (ratio 4)",
     kStores, &ReplaceAngleRow<&RawPosition>},
    {"rope-index-position", "rope", "rotates at position / ratio", "position 7", kStores,
     &ReplaceAngleRow<&WindowIndex>},
    {"rope-next-window", "rope", "rotates at the next window's start", "any", kQuantises,
     &ReplaceAngleRow<&NextWindow>},
    {"rope-previous-window", "rope", "rotates at the previous window's start", "a second window", kQuantises,
     &ReplaceAngleRow<&PreviousWindow>},
    {"rope-window-start", "rope", "rotates at the first row of an overlapping window", "ratio above 1, a third window",
     kStores, &WindowOfPrevious},
    {"rope-window-middle", "rope", "rotates at the middle of the window", "ratio above 1", kStores,
     &ReplaceAngleRow<&WindowMiddle>},
    {"rope-table-of-1024", "rope", "position modulo 1,024, as if the table were short", "position 1024", kQuantises,
     &ReplaceAngleRow<&Wrapped<1024>>},
    {"rope-position-int16", "rope", "position truncated to int16", "position 32768", kQuantises,
     &ReplaceAngleRow<&PositionInt16>},
    {"rope-position-bf16", "rope", "position rounded to bf16", "position 257", kQuantises,
     &ReplaceAngleRow<&PositionBf16>},
    {"rope-position-fp16", "rope", "position rounded to fp16", "a window's start beyond 2048 that fp16 lacks",
     kQuantises, &ReplaceAngleRow<&PositionFp16>},
    {"rope-next-position", "rope", "rotates at position + 1", "any", kQuantises, &ReplaceAngleRow<&NextPosition>},
    {"rope-row-zero", "rope", "row 0 of the table for every position", "position above 0", kQuantises,
     &ReplaceAngleRow<&RowZero>},
    {"cos-sin-stride", "rope", "row stride of the table taken as rope / 2", "any position above 0", kQuantises,
     &RowByHalfStride},
    {"rope-table-unpadded", "rope", "row stride of the table taken as rope", "a padded table, position above 0",
     kQuantises, &RowByRopeStride},
    {"rope-sin-behind-row", "rope", "sines read behind half of the padded row", "a padded table", kQuantises,
     &ChangeAngles<SinBehindRow>},
    {"rope-sign", "rope", "sin with the wrong sign", "any", kQuantises, &ReplaceRope<WithAngles<Negative>>},
    {"rope-both-plus", "rope", "e cos + o sin for e cos - o sin", "any", kQuantises, &ReplaceRope<BothPlus>},
    {"rope-cos-for-sin", "rope", "sin read from the first half of the table", "cos unlike sin", kQuantises,
     &ChangeAngles<CosForSin>},
    {"rope-sin-before-cos", "rope", "the halves of the table swapped", "cos unlike sin", kQuantises,
     &ChangeAngles<SinForCos>},
    {"rope-table-by-turns", "rope", "the table read as cos, sin, cos, sin", "any", kQuantises,
     &ReplaceRope<WithAngles<ByTurns>>},
    {"rope-next-angle", "rope", "pair i turns by angle i + 1", "angles that differ", kQuantises,
     &ReplaceRope<WithAngles<NextAngle>>},
    {"rope-half-angle", "rope", "pair i turns by angle i / 2", "angles that differ", kQuantises,
     &ReplaceRope<WithAngles<HalfAngle>>},
    {"rope-table-bf16", "rope", "fp32 cos and sin rounded to bf16", "angles with low mantissa bits", kQuantises,
     &ReplaceRope<WithAngles<RoundedAngle>>},
    {"rope-half-pairs", "rope", "only the first half of the pairs turns", "any", kQuantises,
     &ChangeAngles<HalfThePairs>},
    {"rope-last-pair", "rope", "the last pair does not turn", "any", kQuantises, &ChangeAngles<AllButLastPair>},
    {"rope-first-pair", "rope", "the first pair does not turn", "any", kQuantises, &ChangeAngles<AllButFirstPair>},
    {"rope-groups-of-4", "rope", "pairs in groups of 4, the rest do not turn", "a rotated width that 8 does not divide",
     kHead128Stores | kQ, &ChangeAngles<WholeGroupsOf4>},
    {"rope-at-most-64", "rope", "turns the last 64 columns at most", "a wider rotation", kHead128Stores | kQ,
     &ChangeAngles<Fixed64>},
    {"rope-none", "rope", "not rotated at all", "any", kQuantises, &ChangeAngles<NoPairs>},
    {"rope-odd-unturned", "rope", "only even columns turn", "any", kQuantises, &ReplaceRope<OddUnturned>},
    {"rope-in-place", "rope", "the odd column turns with the even one's new value", "any", kQuantises,
     &ReplaceRope<InPlace>},
    {"rope-twice", "rope", "rotated twice", "any", kQuantises, &ReplaceRope<Twice>},
    {"rope-identity-pairs", "rope", "head 128: pairs before the rotated ones take no part", "a NaN or infinity there",
     kHead128Stores, &ChangeAngles<NoIdentity>},
    {"rope-from-bf16", "rope", "head 512: rotates the bf16-rounded value", "values with low mantissa bits",
     kHead512Stores, &ReplaceRope<FromBf16<512>>},
    {"rope-bf16-input-128", "rope", "head 128: rotates bf16-rounded values", "low mantissa bits", kHead128Stores,
     &ReplaceRope<FromBf16<128>>},
    {"rope-saturates", "rope", "rotated values beyond bf16 become its largest, not infinity",
     "huge norm weights on rotated columns", kHead512Stores, &StoredSaturates},
    {"bf16-saturates", "rope", "values beyond bf16 become its largest before quantisation, not infinity",
     "huge norm weights", kStores, &InputSaturates},
    {"rope-truncate", "rope", "rotated values truncated to bf16, not rounded", "values with low mantissa bits",
     kHead512Stores, &TruncateStored},
};

}  // namespace

std::span<const Fault> RopeFaults() { return kRows; }

}  // namespace kvexact
