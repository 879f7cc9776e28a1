// SPDX-License-Identifier: Apache-2.0
// Driven values: the groups hit every rounding midpoint and every edge, exactly.
#include "harness/generate/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

#include "harness/case/token_fate.h"
#include "harness/generate/counter_hash.h"
#include "harness/generate/generate.h"

namespace kvexact::generate {
namespace {

// The codes' values from +0 up, by the definition of a small float with `bias`.
std::vector<double> CodeValues(int codes, int mantissa_bits, int bias) {
  std::vector<double> values;
  for (int code = 0; code < codes; ++code) {
    const int exponent = code >> mantissa_bits;
    const double fraction = std::ldexp(code & ((1 << mantissa_bits) - 1), -mantissa_bits);
    values.push_back(exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
  }
  return values;
}

struct Format {
  ValueKind mid;
  ValueKind edge;
  std::vector<double> values;
  std::size_t group;
};

std::vector<Format> Formats() {
  return {{ValueKind::kE4M3Mid, ValueKind::kE4M3Edge, CodeValues(127, 3, 7), 64},
          {ValueKind::kE2M1Mid, ValueKind::kE2M1Edge, CodeValues(8, 1, 1), 32}};
}

// The exponent of a group: the smallest e with amax <= largest * 2^e.
int ExponentOf(const std::vector<float>& group, double largest) {
  double amax = 0;
  for (const float x : group) amax = std::max(amax, std::abs(static_cast<double>(x)));
  int exponent = 0;
  std::frexp(amax / largest, &exponent);
  return std::ldexp(largest, exponent - 1) >= amax ? exponent - 1 : exponent;
}

TEST(MidpointGroups, HoldEveryMidpointAndItsNeighboursOfBothSigns) {
  for (const Format& format : Formats()) {
    std::set<double> found;
    std::vector<float> group(format.group);
    for (std::uint64_t stream = 0; stream < 4000; ++stream) {
      FillPattern(format.mid, stream, group);
      const int exponent = ExponentOf(group, format.values.back());
      for (const float x : group) found.insert(std::ldexp(static_cast<double>(x), -exponent));
    }
    for (std::size_t code = 0; code + 1 < format.values.size(); ++code) {
      const double midpoint = (format.values[code] + format.values[code + 1]) / 2;
      const double ulp = std::ldexp(1, std::ilogb(midpoint) - 23);
      // Downwards from a power of two the ulp is half as large.
      const double below = std::ilogb(midpoint) == std::ilogb(midpoint - ulp / 2) ? ulp : ulp / 2;
      for (const double sign : {1.0, -1.0}) {
        EXPECT_TRUE(found.contains(sign * midpoint)) << midpoint;
        EXPECT_TRUE(found.contains(sign * (midpoint + ulp))) << midpoint;
        EXPECT_TRUE(found.contains(sign * (midpoint - below))) << midpoint;
        EXPECT_TRUE(found.contains(sign * (midpoint + 0x1p16 * ulp))) << midpoint;
        EXPECT_TRUE(found.contains(sign * (midpoint - 0x1p16 * below))) << midpoint;
      }
    }
  }
}

TEST(EdgeGroups, ReachTheLargestValueTimesEveryPowerOfTwoAndItsNeighbours) {
  for (const Format& format : Formats()) {
    std::map<int, std::set<float>> found;  // by binade of the edge
    std::set<std::size_t> places;
    std::vector<float> group(format.group);
    for (std::uint64_t stream = 0; stream < 20000; ++stream) {
      FillPattern(format.edge, stream, group);
      const auto largest =
          std::max_element(group.begin(), group.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
      found[std::ilogb(*largest)].insert(std::abs(*largest));
      places.insert(static_cast<std::size_t>(largest - group.begin()));
    }
    EXPECT_EQ(places.size(), format.group);
    const auto top = static_cast<float>(format.values.back());
    for (int k = -22; k <= 16; ++k) {
      const float edge = std::ldexp(top, k);
      const std::set<float>& near = found[std::ilogb(edge)];
      EXPECT_TRUE(near.contains(edge)) << k;
      EXPECT_TRUE(near.contains(std::nextafter(edge, 1e38F))) << k;
      EXPECT_TRUE(near.contains(std::nextafter(edge, 0.0F))) << k;
      const float bf16_ulp = std::ldexp(1.0F, std::ilogb(edge) - 7);
      EXPECT_TRUE(near.contains(edge + bf16_ulp)) << k;
      EXPECT_TRUE(near.contains(edge - bf16_ulp)) << k;
    }
  }
}

TEST(Bf16Groups, HoldTiesAndTheirNeighbours) {
  std::vector<float> group(64);
  std::map<std::uint32_t, int> lower_halves;
  for (std::uint64_t stream = 0; stream < 100; ++stream) {
    FillPattern(ValueKind::kBf16Mid, stream, group);
    for (const float x : group) ++lower_halves[std::bit_cast<std::uint32_t>(x) & 0xFFFFU];
  }
  EXPECT_EQ(lower_halves.size(), 3U);
  for (const std::uint32_t half : {0x7FFFU, 0x8000U, 0x8001U}) EXPECT_GT(lower_halves[half], 1000);
}

// In a driven case one row has all the weight, and its KV is +-2^20.
TEST(DrivenCase, HasOneDominantRowAWindow) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (const char* text : {"op=indexer_fp8 values=drive scores=drive",
                             "op=indexer_mxfp4 ratio=8 overlap=false "
                             "requests=0+40 values=drive scores=drive",
                             "op=two_stage values=drive scores=drive"}) {
      CaseSpec spec = ParseSpec(text);
      spec.seed = seed;
      const Case c = Generate(spec);
      const CompressBinding binding(c);
      const CompressInputs& in = binding.inputs();
      const std::vector<TokenFate> fates = TokenFates(c);
      int live = 0;
      for (std::int64_t token = 0; token < in.num_actual; ++token) {
        if (fates[static_cast<std::size_t>(token)] != TokenFate::kLive) continue;
        ++live;
        for (std::int64_t column = 0; column < in.head_dim; column += 17) {
          std::vector<float> scores;
          for (std::int64_t row = 0; row < in.window_rows(); ++row) {
            const std::int64_t position = in.positions[token] - in.window_rows() + 1 + row;
            if (position < 0) continue;
            const std::int64_t block = in.block_table(in.token_to_req[token], position / in.block_size);
            const float* values = in.state_cache.data() + block * in.state_cache.outerStride() +
                                  position % in.block_size * in.state_row_stride + (row < in.ratio ? 0 : in.head_dim);
            EXPECT_EQ(std::abs(values[column]), 0x1p20F);
            scores.push_back(values[in.state_width + column]);
          }
          std::sort(scores.begin(), scores.end(), std::greater<>());
          ASSERT_GE(scores.size(), 2U);
          EXPECT_GE(scores[0] - scores[1], 200.0F);
        }
      }
      EXPECT_GT(live, 0);
    }
  }
}

}  // namespace
}  // namespace kvexact::generate
