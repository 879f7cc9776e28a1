// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace kvexact::host {

// Rotates the pairs (x[2i], x[2i + 1]), i < pairs, by the angles of a table row: `pairs` cosines, then
// `pairs` sines. Products and sums are rounded one by one.
inline void Rotate(float* x, const float* cos_sin, std::int64_t pairs) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    const float cos = cos_sin[i];
    const float sin = cos_sin[pairs + i];
    const float even = x[2 * i];
    const float odd = x[2 * i + 1];
    x[2 * i] = even * cos - odd * sin;
    x[2 * i + 1] = odd * cos + even * sin;
  }
}

// The rotation by 0 (cosine 1, sine 0): the identity on finite pairs; a NaN or an infinity makes its
// partner NaN.
inline void RotateByZero(float* x, std::int64_t pairs) {
  for (std::int64_t i = 0; i < pairs; ++i) {
    const float even = x[2 * i];
    const float odd = x[2 * i + 1];
    x[2 * i] = even - odd * 0.0F;
    x[2 * i + 1] = odd + even * 0.0F;
  }
}

}  // namespace kvexact::host
