// SPDX-License-Identifier: Apache-2.0
// Every check over every decision point and a sample of all floats; over all of them with KVEXACT_NIGHTLY=1.
#include <gtest/gtest.h>

#include <cstdlib>

#include "property_tests/formats/check.h"
#include "reference/formats/encode.h"
#include "reference/spec/format.h"

namespace kvexact::format_tests {
namespace {

constexpr std::uint64_t kAllPatterns = std::uint64_t{1} << 32;
constexpr std::uint32_t kSampleStride = 4093;  // prime: the low bits of the patterns differ

class FormatSweep : public testing::TestWithParam<Check> {};

TEST_P(FormatSweep, AgreesWithItsWitness) {
  const Check& check = GetParam();
  const std::uint32_t stride = std::getenv("KVEXACT_NIGHTLY") != nullptr ? check.full_stride : kSampleStride;
  Tally tally = RunDecisionPoints(check);
  tally.Add(RunRange(check, 0, kAllPatterns, stride));
  RecordProperty("compared", std::to_string(tally.compared()));
  EXPECT_GT(tally.compared(), kAllPatterns / stride / 4);
  EXPECT_EQ(tally.mismatched(), 0U) << check.claim << "; first mismatch: " << ToText(*tally.first());
}

INSTANTIATE_TEST_SUITE_P(Checks, FormatSweep, testing::ValuesIn(AllChecks()),
                         [](const testing::TestParamInfo<Check>& row) {
                           std::string name = row.param.name;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// A sweep that could not fail would prove nothing.
TEST(FormatSweepItself, FindsTheOneTieThatDiffers) {
  const Check planted{"planted", "ties away instead of to even",
                      [](std::span<const std::uint32_t> bits, Tally& tally) {
                        for (const std::uint32_t b : bits) {
                          const auto x = std::bit_cast<float>(b);
                          tally.Compare(b, Encode(spec::kE2M1, x, Rounding::kNearestEven, Overflow::kSaturate),
                                        Encode(spec::kE2M1, x, Rounding::kTiesAway, Overflow::kSaturate), "planted");
                        }
                      },
                      1};
  const auto quarter = std::bit_cast<std::uint32_t>(0.25F);
  const Tally range = RunRange(planted, quarter - 100, 1U << 20, 1);
  EXPECT_EQ(range.compared(), 1U << 20);
  EXPECT_EQ(range.mismatched(), 1U);
  ASSERT_TRUE(range.first().has_value());
  EXPECT_EQ(range.first()->bits, quarter);
  EXPECT_EQ(ToText(*range.first()), "bits 0x3e800000 (0.25): expected 0, actual 1 (planted)");
  EXPECT_EQ(RunDecisionPoints(planted).mismatched(), 8U);  // +-0.25, 1.25, 2.5 and 5
}

TEST(FormatSweepItself, RangesPartitionThePatterns) {
  const Check parity{"parity", "",
                     [](std::span<const std::uint32_t> bits, Tally& tally) {
                       for (const std::uint32_t b : bits) tally.Compare(b, 0, b % 3 == 0 ? 1 : 0, "multiple of 3");
                     },
                     1};
  Tally parts = RunRange(parity, 0, 10000, 1);
  parts.Add(RunRange(parity, 10000, 5001, 1));
  const Tally whole = RunRange(parity, 0, 15001, 1);
  EXPECT_EQ(whole.compared(), 15001U);
  EXPECT_EQ(whole.mismatched(), 5001U);
  EXPECT_EQ(parts.compared(), whole.compared());
  EXPECT_EQ(parts.mismatched(), whole.mismatched());
  EXPECT_EQ(RunRange(parity, 0xFFFFFFF0U, 16, 7).compared(), 3U);
}

}  // namespace
}  // namespace kvexact::format_tests
