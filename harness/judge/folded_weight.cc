// SPDX-License-Identifier: Apache-2.0
#include "harness/judge/folded_weight.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "reference/formats/bf16.h"
#include "reference/spec/format.h"

namespace kvexact {
namespace {

constexpr int kMaxFactors = 4;

float Flushed(float x, bool flush) {
  return flush && std::fabs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}

void Add(float product, bool bf16, std::vector<std::uint32_t>& out) {
  const std::uint32_t bits = bf16                 ? RoundToBf16(product)
                             : product != product ? spec::kFp32.canonical_nan
                                                  : std::bit_cast<std::uint32_t>(product);
  if (std::find(out.begin(), out.end(), bits) == out.end()) out.push_back(bits);
}

// Multiplies every pair of the remaining factors in turn.
void Combine(const std::array<float, kMaxFactors>& factors, int count, bool flush, bool bf16,
             std::vector<std::uint32_t>& out) {
  if (count == 1) {
    Add(factors[0], bf16, out);
    return;
  }
  for (int i = 0; i < count; ++i) {
    for (int j = i + 1; j < count; ++j) {
      std::array<float, kMaxFactors> rest{};
      int kept = 0;
      for (int k = 0; k < count; ++k) {
        if (k != i && k != j) rest[static_cast<std::size_t>(kept++)] = factors[static_cast<std::size_t>(k)];
      }
      const float a = Flushed(factors[static_cast<std::size_t>(i)], flush);
      const float b = Flushed(factors[static_cast<std::size_t>(j)], flush);
      rest[static_cast<std::size_t>(kept++)] = Flushed(a * b, flush);
      Combine(rest, kept, flush, bf16, out);
    }
  }
}

}  // namespace

std::vector<std::uint32_t> FoldedWeights(std::span<const float> factors, bool bf16) {
  std::array<float, kMaxFactors> values{};
  std::copy(factors.begin(), factors.end(), values.begin());
  std::vector<std::uint32_t> out;
  for (const bool flush : {false, true}) Combine(values, static_cast<int>(factors.size()), flush, bf16, out);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace kvexact
