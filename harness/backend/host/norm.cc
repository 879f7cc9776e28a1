// SPDX-License-Identifier: Apache-2.0
#include "harness/backend/host/norm.h"

#include <cmath>

namespace kvexact::host {

void RmsNorm(float* x, const float* weight, std::int64_t n, float eps) {
  constexpr std::int64_t kLanes = 16;
  float lane[kLanes] = {};
  for (std::int64_t i = 0; i < n; ++i) lane[i % kLanes] += x[i] * x[i];
  float sum = 0.0F;
  for (const float partial : lane) sum += partial;
  const float rrms = 1.0F / std::sqrt(sum / static_cast<float>(n) + eps);
  for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] * rrms * weight[i];
}

}  // namespace kvexact::host
