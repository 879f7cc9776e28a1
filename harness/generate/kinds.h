// SPDX-License-Identifier: Apache-2.0
// The named choices of a CaseSpec.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace kvexact::generate {

// Values of KV rows, scratch rows, Q, norm weights and index weights. "Group" is what shares a scale.
enum class ValueKind : std::uint8_t {
  kNormal,     // bell, deviation 1
  kNearOne,    // uniform in [0.5, 1.5)
  kOne,        // 1
  kHeavy,      // bell times 2^j with probability 2^-j
  kNegative,   // minus the magnitude of heavy
  kWide,       // random sign, binade in [-20, 20], mantissa
  kGroups,     // bell, each group in another binade of [-12, 12]
  kRows,       // bell, each row (or head) in another binade of [-12, 12]
  kConstant,   // one value a row
  kIntegers,   // -8 to 8
  kCancel,     // +-1000 by turns from row to row, plus a small bell
  kNearEps,    // bell * 2^-10: mean square near 1e-6
  kTiny,       // bell * 2^-40
  kHuge,       // bell * 2^40
  kOverflow,   // bell * 2^57 to 2^63 a row: squares sum up around 2^128
  kExtreme,    // magnitude in [2^126, 2^128)
  kSubnormal,  // fp32 subnormals of all sizes
  kZero,       // +0 and -0
  kSparse,     // one bell in 16, zeros of both signs otherwise
  kBits,       // any bits below 2^116
  kDrive,      // +-2^20
  kE4M3Mid,    // groups that hold rounding midpoints of E4M3 and their neighbours, under a fixed maximum
  kE4M3Edge,   // groups whose maximum is 448 * 2^k or a neighbour
  kE2M1Mid,    // the same for E2M1
  kE2M1Edge,   // maximum 6 * 2^k or a neighbour
  kBf16Mid,    // rounding midpoints of bf16 and their neighbours
};
inline constexpr std::array<std::string_view, 26> kValueKindNames = {
    "normal",   "near_one", "one",      "heavy",    "negative",  "wide",     "groups",    "rows",      "constant",
    "integers", "cancel",   "near_eps", "tiny",     "huge",      "overflow", "extreme",   "subnormal", "zero",
    "sparse",   "bits",     "drive",    "e4m3_mid", "e4m3_edge", "e2m1_mid", "e2m1_edge", "bf16_mid"};

enum class ScoreKind : std::uint8_t {
  kNormal,
  kFlat,     // all equal
  kTies,     // -1, 0 or 1
  kWide,     // uniform in [-128, 128)
  kSpread,   // uniform in [-1024, 1024)
  kHigh,     // bell + 1000
  kLow,      // bell - 1000
  kColumns,  // bell + an offset of up to +-1024 a column
  kNegInf,   // bell, a quarter -inf, but never the window's last row
  kCutoff,   // differences around those where a weight vanishes
  kSubnormal,
  kZero,
  kHuge,   // bell * 2^60
  kDrive,  // one row of the window has all the weight, exactly
};
inline constexpr std::array<std::string_view, 14> kScoreKindNames = {"normal",    "flat", "ties",    "wide",   "spread",
                                                                     "high",      "low",  "columns", "neginf", "cutoff",
                                                                     "subnormal", "zero", "huge",    "drive"};

// Rows of the cos/sin table.
enum class AngleKind : std::uint8_t {
  kUnit,      // points near the unit circle
  kIdentity,  // cos 1, sin 0
  kQuarter,   // multiples of a quarter turn
  kWild,      // cos and sin independent in [-2, 2)
};
inline constexpr std::array<std::string_view, 4> kAngleKindNames = {"unit", "identity", "quarter", "wild"};

// One non-finite value, or a set of them, in what one live token reads.
enum class Special : std::uint8_t {
  kNone,
  kNan,  // a NaN among the KV, scratch or Q values
  kInf,
  kNegInf,
  kScoreNan,
  kScoreInf,
  kScoreColumn,  // a column whose scores are all -inf
  kScoreAll,     // every score of the window -inf
};
inline constexpr std::array<std::string_view, 8> kSpecialNames = {
    "none", "nan", "inf", "neginf", "score_nan", "score_inf", "score_neginf_column", "score_neginf_all"};

// What no live token reads: floats, and block table entries.
enum class Unread : std::uint8_t {
  kNan,     // NaN; 2^30
  kInf,     // infinities of both signs; 2^30
  kValues,  // ordinary values; valid block numbers
};
inline constexpr std::array<std::string_view, 3> kUnreadNames = {"nan", "inf", "values"};

enum class TokenOrder : std::uint8_t { kRequests, kReversed, kShuffled };
inline constexpr std::array<std::string_view, 3> kTokenOrderNames = {"requests", "reversed", "shuffled"};

// Physical state blocks.
enum class BlockOrder : std::uint8_t {
  kPermuted,
  kIdentity,
  kReversed,
  kShared,  // permuted, and requests share leading blocks with the first
};
inline constexpr std::array<std::string_view, 4> kBlockOrderNames = {"permuted", "identity", "reversed", "shared"};

enum class SlotOrder : std::uint8_t { kScattered, kAscending, kReversed };
inline constexpr std::array<std::string_view, 3> kSlotOrderNames = {"scattered", "ascending", "reversed"};

// Which skipped tokens carry metadata that points nowhere.
enum class Garbage : std::uint8_t {
  kNone,
  kSkipped,  // tokens that leave at the slot or at the boundary test, and the tail
  kAll,      // those that leave at the KV slot too
};
inline constexpr std::array<std::string_view, 3> kGarbageNames = {"none", "skipped", "all"};

enum class FloatType : std::uint8_t { kF32, kBf16 };
inline constexpr std::array<std::string_view, 2> kFloatTypeNames = {"f32", "bf16"};

constexpr const auto& NamesOf(ValueKind) { return kValueKindNames; }
constexpr const auto& NamesOf(ScoreKind) { return kScoreKindNames; }
constexpr const auto& NamesOf(AngleKind) { return kAngleKindNames; }
constexpr const auto& NamesOf(Special) { return kSpecialNames; }
constexpr const auto& NamesOf(Unread) { return kUnreadNames; }
constexpr const auto& NamesOf(TokenOrder) { return kTokenOrderNames; }
constexpr const auto& NamesOf(BlockOrder) { return kBlockOrderNames; }
constexpr const auto& NamesOf(SlotOrder) { return kSlotOrderNames; }
constexpr const auto& NamesOf(Garbage) { return kGarbageNames; }
constexpr const auto& NamesOf(FloatType) { return kFloatTypeNames; }

template <class Kind>
constexpr std::string_view NameOf(Kind kind) {
  return NamesOf(kind)[static_cast<std::size_t>(kind)];
}

}  // namespace kvexact::generate
