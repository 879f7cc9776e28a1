// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/angles.h"

namespace kvexact {

RopeAngles Angles(const RopeSite& site) {
  const float* row = site.cos_sin->row(site.position / site.ratio * site.ratio).data();
  const int first = site.head_dim - site.rope_dim;
  return {row, row + site.rope_dim / 2, first, site.rope_dim / 2, site.whole_head ? 0 : first};
}

}  // namespace kvexact
