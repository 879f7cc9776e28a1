// SPDX-License-Identifier: Apache-2.0
// Rules by which a value between two codes becomes one of them, and by which a value beyond the
// largest code does.
#pragma once

#include <cstdint>

namespace kvexact {

// "Even" is the code whose last bit is zero; in UE8M0, which has no mantissa, that is an even exponent field.
enum class Rounding : std::uint8_t {
  kNearestEven,   // IEEE-754 default; what the model and NVIDIA's conversions use
  kTiesAway,      // nearest, ties to the larger magnitude
  kTiesToZero,    // nearest, ties to the smaller magnitude
  kTiesUp,        // nearest, ties towards +infinity
  kTiesDown,      // nearest, ties towards -infinity
  kTowardZero,    // truncation
  kAwayFromZero,  // the next larger magnitude unless exact; "round up" of a UE8M0 scale
};

// A value overflows when it is infinite, or when rounding with an unbounded exponent takes it beyond
// the largest finite value of the format.
enum class Overflow : std::uint8_t {
  kSaturate,    // the largest finite value of the same sign, also for an infinity
  kToNan,       // the canonical NaN; saturates where the format has none
  kToInfinity,  // the infinity of the same sign; as kToNan where the format has none
};

}  // namespace kvexact
