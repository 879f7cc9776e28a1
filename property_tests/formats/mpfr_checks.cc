// SPDX-License-Identifier: Apache-2.0
#include "property_tests/formats/check.h"
#include "property_tests/formats/mpfr_oracle.h"
#include "reference/formats/bf16.h"
#include "reference/formats/e2m1.h"
#include "reference/formats/e4m3.h"
#include "reference/formats/encode.h"
#include "reference/spec/format.h"

namespace kvexact::format_tests {
namespace {

using Bits = std::span<const std::uint32_t>;

template <const spec::Format& kFormat, const OracleFormat& kOracle, Overflow kOverflow>
void NearestEven(Bits bits, Tally& tally) {
  thread_local MpfrOracle oracle(kOracle);
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    tally.Compare(b, oracle.Encode(x, Rounding::kNearestEven, kOverflow),
                  Encode(kFormat, x, Rounding::kNearestEven, kOverflow), "Encode");
  }
}

constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kTiesAway, Rounding::kTiesToZero,
                                   Rounding::kTiesUp,      Rounding::kTiesDown, Rounding::kTowardZero,
                                   Rounding::kAwayFromZero};
constexpr const char* kRoundingNames[] = {"kNearestEven", "kTiesAway",   "kTiesToZero",  "kTiesUp",
                                          "kTiesDown",    "kTowardZero", "kAwayFromZero"};

template <const spec::Format& kFormat, const OracleFormat& kOracle>
void EveryRule(Bits bits, Tally& tally) {
  thread_local MpfrOracle oracle(kOracle);
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    for (const Rounding rounding : kRoundings) {
      for (const Overflow overflow : {Overflow::kSaturate, Overflow::kToNan, Overflow::kToInfinity}) {
        tally.Compare(b, oracle.Encode(x, rounding, overflow), Encode(kFormat, x, rounding, overflow),
                      kRoundingNames[static_cast<int>(rounding)]);
      }
    }
  }
}

void FastE4M3Fnuz(Bits bits, Tally& tally) {
  thread_local MpfrOracle oracle(kOracleE4M3Fnuz);
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    tally.Compare(b, oracle.Encode(x, Rounding::kNearestEven, Overflow::kSaturate), EncodeE4M3Fnuz(x, 0x80),
                  "EncodeE4M3Fnuz");
  }
}

// Independent of any witness: the fast encoders are the generic one.
void FastIsGeneric(Bits bits, Tally& tally) {
  for (const std::uint32_t b : bits) {
    const auto x = std::bit_cast<float>(b);
    constexpr auto kEven = Rounding::kNearestEven;
    tally.Compare(b, Encode(spec::kE4M3Fn, x, kEven, Overflow::kSaturate), EncodeE4M3Fn(x, 0x7F), "EncodeE4M3Fn");
    tally.Compare(b, Encode(spec::kE4M3Fnuz, x, kEven, Overflow::kSaturate), EncodeE4M3Fnuz(x, 0x80), "EncodeE4M3Fnuz");
    tally.Compare(b, Encode(spec::kE2M1, x, kEven, Overflow::kSaturate), EncodeE2M1(x, 7), "EncodeE2M1");
    tally.Compare(b, Encode(spec::kBf16, x, kEven, Overflow::kToInfinity), RoundToBf16(x), "RoundToBf16");
  }
}

}  // namespace

std::vector<Check> MpfrChecks() {
  constexpr auto kSaturate = Overflow::kSaturate;
  return {
      {"fast-generic", "fast encoders equal the generic one", FastIsGeneric, 1},
      {"e4m3fnuz-mpfr", "E4M3FNUZ, nearest even, saturating, equals MPFR",
       NearestEven<spec::kE4M3Fnuz, kOracleE4M3Fnuz, kSaturate>, 1},
      {"e4m3fnuz-fast-mpfr", "fast E4M3FNUZ equals MPFR", FastE4M3Fnuz, 1},
      {"ue8m0-mpfr", "UE8M0, nearest even, saturating, equals MPFR", NearestEven<spec::kUe8m0, kOracleUe8m0, kSaturate>,
       1},
      {"e4m3fn-mpfr", "E4M3FN, nearest even, saturating, equals MPFR",
       NearestEven<spec::kE4M3Fn, kOracleE4M3Fn, kSaturate>, 1},
      {"e2m1-mpfr", "E2M1, nearest even, saturating, equals MPFR", NearestEven<spec::kE2M1, kOracleE2M1, kSaturate>, 1},
      {"bf16-mpfr", "bf16, nearest even, overflow to infinity, equals MPFR",
       NearestEven<spec::kBf16, kOracleBf16, Overflow::kToInfinity>, 1},
      {"e4m3fn-rules-mpfr", "E4M3FN, every rounding and overflow rule, equals MPFR",
       EveryRule<spec::kE4M3Fn, kOracleE4M3Fn>, 251},
      {"e4m3fnuz-rules-mpfr", "E4M3FNUZ, every rounding and overflow rule, equals MPFR",
       EveryRule<spec::kE4M3Fnuz, kOracleE4M3Fnuz>, 251},
      {"e2m1-rules-mpfr", "E2M1, every rounding and overflow rule, equals MPFR", EveryRule<spec::kE2M1, kOracleE2M1>,
       251},
      {"ue8m0-rules-mpfr", "UE8M0, every rounding and overflow rule, equals MPFR",
       EveryRule<spec::kUe8m0, kOracleUe8m0>, 251},
      {"bf16-rules-mpfr", "bf16, every rounding and overflow rule, equals MPFR", EveryRule<spec::kBf16, kOracleBf16>,
       251},
  };
}

}  // namespace kvexact::format_tests
