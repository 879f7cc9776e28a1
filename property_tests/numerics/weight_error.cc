// SPDX-License-Identifier: Apache-2.0
#include "property_tests/numerics/weight_error.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "property_tests/numerics/weight_bound.h"

namespace kvexact {

WeightError MeasureWeights(const ColumnKernels& kernels, int shift, std::uint64_t first, std::uint64_t last,
                           std::uint64_t stride) {
  constexpr int kBatch = 4096;
  std::vector<float> argument(kBatch);
  std::vector<float> weight(kBatch);
  WeightError error;
  const double scale = std::ldexp(1.0, -shift);
  for (std::uint64_t next = first; next < last;) {
    int count = 0;
    for (; count < kBatch && next < last; next += stride) {
      argument[static_cast<std::size_t>(count++)] = std::bit_cast<float>(static_cast<std::uint32_t>(next));
    }
    kernels.strict_weights(argument.data(), count, shift, weight.data());
    for (int i = 0; i < count; ++i) {
      const float d = argument[static_cast<std::size_t>(i)];
      const double exact = scale * std::exp(static_cast<double>(d));
      const double difference = std::fabs(weight[static_cast<std::size_t>(i)] - exact);
      ++error.inputs;
      if (exact < 0x1p-125) {
        error.max_underflow = std::max(error.max_underflow, difference * 0x1p126);
        continue;
      }
      const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
      error.max_excess = std::max(error.max_excess, difference / ulp + kWeightUlpSlope * static_cast<double>(d));
      if (difference / ulp > error.max_ulp || !(difference == difference)) {
        error.max_ulp = difference / ulp;
        error.worst = d;
      }
    }
  }
  return error;
}

}  // namespace kvexact
