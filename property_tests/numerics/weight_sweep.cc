// SPDX-License-Identifier: Apache-2.0
// weight_sweep [STRIDE]: maximum error of the strict exponential over every STRIDE-th fp32 argument d <= 0
// (default 1: all of them), for each weight shift. Exit status 1 if it passes the stated bound.
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "property_tests/numerics/weight_bound.h"
#include "property_tests/numerics/weight_error.h"

int main(int argc, char** argv) {
  const std::uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  if (stride == 0) {
    std::fputs("usage: weight_sweep [STRIDE >= 1]\n", stderr);
    return 2;
  }
  bool within = true;
  // Weights of different shifts differ by an exact power of two until they leave the normal range.
  for (const int shift : {0, 10}) {
    const kvexact::WeightError error =
        kvexact::MeasureWeights(kvexact::BestColumnKernels(), shift, 0x80000000U, 0xFF800001U, stride);
    std::printf(
        "shift=%d inputs=%lld max_error=%.4f ulp at d=%a, less %.4f |d|: %.4f ulp, below the normal range %.3f * "
        "2^-126\n",
        shift, static_cast<long long>(error.inputs), error.max_ulp, static_cast<double>(error.worst),
        kvexact::kWeightUlpSlope, error.max_excess, error.max_underflow);
    within =
        within && error.max_excess <= kvexact::kMaxWeightUlp && error.max_underflow <= kvexact::kMaxWeightUnderflow;
  }
  return within ? 0 : 1;
}
