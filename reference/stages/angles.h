// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "reference/operations/inputs.h"
#include "reference/stages/compress.h"

namespace kvexact {

// What decides which row of the cos/sin table turns which columns.
struct RopeSite {
  const MatrixView<float>* cos_sin;  // [positions, >= rope_dim]: cosines, then sines
  std::int64_t position;             // the token's
  std::int64_t ratio;                // 1 for Q
  int head_dim;
  int rope_dim;
  bool whole_head;  // the pairs before the rotated ones turn by the identity
};

// Row (position / ratio) * ratio turns the last rope_dim columns.
RopeAngles Angles(const RopeSite& site);

}  // namespace kvexact
