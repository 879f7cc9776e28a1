// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "property_tests/golden/table.h"
#include "reference/formats/bf16.h"
#include "reference/formats/e2m1.h"
#include "reference/formats/e4m3.h"
#include "reference/formats/encode.h"

namespace kvexact::golden {
namespace {

const spec::Format& FormatNamed(const std::string& name) {
  for (const spec::Format* format : spec::kFormats) {
    if (format->name == name) return *format;
  }
  throw std::runtime_error("no such format: " + name);
}

TEST(GoldenFormats, GeneralEncoderGivesTheCodesDerivedByHand) {
  std::set<std::string> formats;
  for (const auto& row : ReadTable("formats.txt")) {
    const spec::Format& format = FormatNamed(row.at(0));
    const Overflow overflow = format.has_infinity ? Overflow::kToInfinity : Overflow::kSaturate;
    EXPECT_EQ(Encode(format, ParseFloat(row.at(2)), Rounding::kNearestEven, overflow), ParseCode(row.at(3)))
        << row.at(0) << " " << row.at(1) << ": " << row.at(4);
    formats.insert(row.at(0));
  }
  EXPECT_EQ(formats, (std::set<std::string>{"bf16", "e2m1", "e4m3fn", "e4m3fnuz", "ue8m0"}));
}

TEST(GoldenFormats, FastEncodersGiveTheCodesDerivedByHand) {
  int checked = 0;
  for (const auto& row : ReadTable("formats.txt")) {
    const float x = ParseFloat(row.at(2));
    const std::uint32_t code = ParseCode(row.at(3));
    SCOPED_TRACE(row.at(0) + " " + row.at(1) + ": " + row.at(4));
    ++checked;
    if (row.at(0) == "e4m3fn") {
      EXPECT_EQ(EncodeE4M3Fn(x, 0x7F), code);
    } else if (row.at(0) == "e4m3fnuz") {
      EXPECT_EQ(EncodeE4M3Fnuz(x, 0x80), code);
    } else if (row.at(0) == "e2m1") {
      EXPECT_EQ(EncodeE2M1(x, 7), code);
    } else if (row.at(0) == "bf16") {
      EXPECT_EQ(RoundToBf16(x), code);
    } else {
      --checked;
    }
  }
  EXPECT_GE(checked, 90);
}

}  // namespace
}  // namespace kvexact::golden
