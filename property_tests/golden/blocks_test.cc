// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "property_tests/golden/kinds.h"
#include "property_tests/golden/table.h"
#include "reference/formats/bf16.h"

namespace kvexact::golden {
namespace {

// The pieces of the quantiser, put together here: bf16, absmax and its floor, exponent, codes.
TEST(GoldenBlocks, ExponentAndCodesAreThoseDerivedByHand) {
  int checked = 0;
  for (const Block& block : ReadBlocks()) {
    SCOPED_TRACE(block.kind + " " + block.name);
    ++checked;
    if (block.kind == "bf16") {
      for (std::size_t i = 0; i < block.values.size(); ++i) EXPECT_EQ(RoundToBf16(block.values[i]), block.codes[i]);
      continue;
    }
    const Kind kind = KindNamed(block.kind);
    std::vector<float> values;
    float absmax = kind.floor;
    for (const float value : block.values) {
      values.push_back(WidenBf16(RoundToBf16(value)));
      absmax = std::max(absmax, std::abs(values.back()));
    }
    const int exponent = ScaleExponent(absmax, kind.divisor);
    EXPECT_EQ(exponent, block.exponent);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(kind.encode(values[i] * PowerOfTwo(-exponent)), block.codes[i]) << values[i];
    }
  }
  EXPECT_GE(checked, 50);
}

TEST(GoldenBlocks, ThePairOneSixIsTheByte72) {
  for (const Block& block : ReadBlocks()) {
    if (block.name != "nibble_order") continue;
    EXPECT_EQ(PackNibbles(static_cast<std::uint8_t>(block.codes.at(0)), static_cast<std::uint8_t>(block.codes.at(1))),
              0x72);
    return;
  }
  FAIL() << "no row nibble_order";
}

}  // namespace
}  // namespace kvexact::golden
