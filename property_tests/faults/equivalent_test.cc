// SPDX-License-Identifier: Apache-2.0
// The proofs of the class `equivalent`, by exhaustion where there is a finite number of inputs.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "harness/faults/fault.h"
#include "harness/faults/run_variant.h"
#include "harness/generate/draw.h"
#include "harness/generate/generate.h"
#include "reference/formats/bf16.h"
#include "reference/formats/decode.h"
#include "reference/formats/e2m1.h"

namespace kvexact {
namespace {

Variant Named(const char* name) { return VariantOf(*FindFault(name)); }

QuantiseRule Rules(int which) {
  if (which == 0) return CompressRule(spec::kSparseAttnLayout, SeedPolicy());
  if (which == 1) return IndexerQRule(QCodes::kE4M3Fnuz, SeedPolicy());
  return IndexerQRule(QCodes::kE2M1, SeedPolicy());
}

// Both sides rise with amax and steps lie at powers of two alone, so neighbours of every max * 2^k decide for all.
void ExpectSameExponents(const char* name) {
  const Variant variant = Named(name);
  for (int which = 0; which < 3; ++which) {
    const QuantiseRule rule = Rules(which);
    std::int64_t checked = 0;
    for (int k = -127; k <= 127; ++k) {
      const double center = std::ldexp(static_cast<double>(ValueOf(rule.divisor)), k);
      if (center > std::numeric_limits<float>::max()) continue;
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(center));
      for (std::uint32_t b = bits - 64; b <= bits + 64; ++b) {
        const float amax = std::bit_cast<float>(b);
        if (!(amax >= rule.amax_floor) || !std::isfinite(amax)) continue;
        ASSERT_EQ(variant.stages.exponent(rule, amax), BlockExponent(rule, amax)) << amax;
        ++checked;
      }
    }
    EXPECT_GT(checked, 10000);
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(variant.stages.exponent(rule, infinity), BlockExponent(rule, infinity));
  }
}

TEST(Equivalent, ScaleByReciprocal) { ExpectSameExponents("scale-by-reciprocal"); }
TEST(Equivalent, ScaleByDivision) { ExpectSameExponents("scale-by-division"); }

// Every bf16 value at every exponent that its block may have: at most 448 (224) after scaling.
void ExpectSameCodes(const char* name) {
  const Variant variant = Named(name);
  for (int which = 0; which < 2; ++which) {
    const QuantiseRule rule = Rules(which);
    QuantiseRule faulty = rule;
    if (which == 0) faulty = CompressRule(spec::kSparseAttnLayout, variant.policy);
    float values[1 << 12];
    for (int exponent = -22; exponent <= 120; exponent += exponent < -10 || exponent > 100 ? 1 : 7) {
      for (std::uint32_t first = 0; first < 0x10000; first += std::size(values)) {
        std::size_t n = 0;
        for (std::uint32_t b = first; b < first + std::size(values); ++b) {
          const float x = WidenBf16(static_cast<std::uint16_t>(b));
          const bool reachable = !(std::fabs(x) > std::ldexp(ValueOf(rule.divisor), exponent));
          if (reachable) values[n++] = x;
        }
        std::uint8_t want[std::size(values)];
        std::uint8_t got[std::size(values)];
        EncodeBlock(rule, {values, n}, exponent, want);
        variant.stages.encode(faulty, {values, n}, exponent, got);
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], want[i]) << values[i] << " at 2^" << exponent;
      }
    }
    // An infinite scale leaves 0 and NaN.
    constexpr float kInf = std::numeric_limits<float>::infinity();
    const std::vector<float> special = {1.0F, -1.0F, kInf, -kInf, std::numeric_limits<float>::quiet_NaN()};
    std::uint8_t want[5];
    std::uint8_t got[5];
    EncodeBlock(rule, special, kInfiniteExponent, want);
    variant.stages.encode(faulty, special, kInfiniteExponent, got);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(got[i], want[i]) << i;
  }
}

TEST(Equivalent, Fp8ByWayOfFp16) { ExpectSameCodes("fp8-fp16-round"); }
TEST(Equivalent, Fp8WithoutClamp) { ExpectSameCodes("fp8-no-clamp"); }

TEST(Equivalent, MaskedRowsAreAWholeHalf) {
  // The row before position 0 that comes last, r = R - 2 - p, lies in the first half exactly where p + 1 = ratio.
  for (std::int64_t ratio = 1; ratio <= 256; ++ratio) {
    for (std::int64_t windows = 1; windows <= 4; ++windows) {
      const std::int64_t position = windows * ratio - 1;
      const std::int64_t masked = std::max<std::int64_t>(0, 2 * ratio - 1 - position);
      EXPECT_TRUE(masked == 0 || masked == ratio) << ratio << ' ' << windows;
    }
  }
}

TEST(Equivalent, WholeOperationsStoreTheSame) {
  DrawSettings settings;
  for (const spec::OperationRow& row : spec::kOperations) settings.operations.push_back(row.id);
  settings.seed = 5;
  std::int64_t compared = 0;
  for (std::uint64_t i = 0; i < 120; ++i) {
    const Case c = Generate(Draw(settings, i));
    TensorMap want = c.outputs_before;
    RunVariant(BoundedVariant(), Strict(), c, want);
    for (const Fault& fault : Faults()) {
      if (fault.fault_class != FaultClass::kEquivalent || (fault.operations & SetOf(c.op)) == 0) continue;
      TensorMap got = c.outputs_before;
      RunVariant(VariantOf(fault), Strict(), c, got);
      ASSERT_EQ(got, want) << fault.name << ' ' << c.name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace kvexact
