// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvexact::host {

// x[i] = (x[i] / sqrt(mean of squares + eps)) * weight[i]; the squares are summed in 16 lanes.
void RmsNorm(float* x, const float* weight, std::int64_t n, float eps);

}  // namespace kvexact::host
