// SPDX-License-Identifier: Apache-2.0
#include "reference/operations/pick_num_splits.h"

#include <algorithm>
#include <stdexcept>

namespace kvexact {

std::int64_t PickNumSplits(std::int64_t num_actual, std::int64_t ratio, std::int64_t head_dim,
                           std::int64_t compute_units) {
  if (num_actual < 0) throw std::invalid_argument("num_actual must be >= 0");
  if (ratio < 1) throw std::invalid_argument("compress_ratio must be >= 1");
  if (head_dim < 1) throw std::invalid_argument("head_dim must be >= 1");
  if (compute_units < 0) throw std::invalid_argument("compute_units must be >= 0");
  const std::int64_t computing = std::max<std::int64_t>(1, num_actual / ratio);
  const std::int64_t wanted = compute_units / computing + (compute_units % computing != 0 ? 1 : 0);
  const std::int64_t limit = std::min(wanted, head_dim / 32);
  std::int64_t splits = 1;
  while (splits <= limit / 2 && head_dim % (splits * 2) == 0) splits *= 2;
  return splits;
}

}  // namespace kvexact
