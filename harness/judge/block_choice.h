// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "harness/judge/block.h"

namespace kvexact {

// The exponent under which a block's codes are judged.
struct BlockChoice {
  int exponent = 0;
  bool stored = false;      // the stored scale is this exponent's
  bool reached = false;     // some code needs it (rule c)
  bool plain[kMaxHeadDim];  // elements with one member, lo[i]
  std::uint8_t lo[kMaxHeadDim];
};

// Among the block's exponents that `matches` accepts (all, if none does: then stored is false), the one
// that leaves the fewest codes unexplained; the lowest of them.
BlockChoice ChooseExponent(const Block& block, const std::uint8_t* observed, const std::function<bool(int)>& matches);

// Members of a rotated value's set among bf16 values.
class Bf16Set {
 public:
  Bf16Set(const Candidates& candidates, int i);
  bool contains(std::uint16_t bits) const;
  int members() const;
  std::string text() const;

 private:
  int lo_ = 1;
  int hi_ = 0;
  std::uint8_t classes_ = 0;
};

}  // namespace kvexact
