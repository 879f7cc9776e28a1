// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "property_tests/formats/cuda_conversions.h"
#include "reference/formats/decode.h"

namespace kvexact::format_tests {
namespace {

void ExpectSame(float expected, float actual, std::uint32_t code) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << code;
  } else {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(expected), std::bit_cast<std::uint32_t>(actual)) << code;
  }
}

TEST(Decode, EqualsCuda) {
  for (std::uint32_t code = 0; code < 256; ++code) {
    ExpectSame(CudaDecodeE4M3(static_cast<std::uint8_t>(code)), Decode(spec::kE4M3Fn, code), code);
    ExpectSame(CudaDecodeUe8m0(static_cast<std::uint8_t>(code)), Decode(spec::kUe8m0, code), code);
    if (code < 16) ExpectSame(CudaDecodeE2M1(static_cast<std::uint8_t>(code)), Decode(spec::kE2M1, code), code);
  }
}

}  // namespace
}  // namespace kvexact::format_tests
