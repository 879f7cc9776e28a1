// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "property_tests/golden/kinds.h"
#include "property_tests/golden/table.h"

namespace kvexact::golden {
namespace {

TEST(GoldenScales, ExponentsAndCodesAreThoseOfExactArithmetic) {
  std::map<std::string, int> rows;
  for (const auto& row : ReadTable("scales.txt")) {
    SCOPED_TRACE(row.at(0) + " k = " + row.at(1) + " " + row.at(2));
    const Kind kind = KindNamed(row.at(0));
    const float absmax = ParseFloat(row.at(3));
    const int exponent = ScaleExponent(std::max(absmax, kind.floor), kind.divisor);
    EXPECT_EQ(exponent, std::stoi(row.at(4)));
    EXPECT_EQ(kind.encode(absmax * PowerOfTwo(-exponent)), ParseCode(row.at(5)));
    ++rows[row.at(0)];
  }
  // Three rows for every k with F * 2^k in bf16: from 7 * 2^-133 (3 * 2^-133) to 1.75 * 2^127 (1.5 * 2^127).
  EXPECT_EQ(rows, (std::map<std::string, int>{{"fnuz", 777}, {"fp8", 777}, {"mxfp4", 780}}));
}

}  // namespace
}  // namespace kvexact::golden
