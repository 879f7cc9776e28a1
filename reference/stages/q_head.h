// SPDX-License-Identifier: Apache-2.0
// What one head of Q stores.
#pragma once

#include <cstdint>

#include "reference/numerics/policy.h"
#include "reference/numerics/window.h"
#include "reference/operations/inputs.h"

namespace kvexact {

struct Stages;

inline constexpr int kMxfp4Block = 32;

struct StoredQHead {
  std::uint8_t codes[kMaxHeadDim];                 // one an element; a nibble for E2M1
  std::uint8_t scales[kMaxHeadDim / kMxfp4Block];  // MXFP4: UE8M0
  float scale;                                     // FP8: the scale that the weight carries
  float weight;                                    // folded, before a rounding to bf16
};

// Values of one head before rounding, head_dim of them.
struct QHeadValues {
  std::int64_t token;
  std::int64_t head;
  const float* rotated;
};

// bf16, scales and codes of a head, and its folded weight.
void RoundQHeadValues(const Stages& stages, const Policy& policy, const IndexerQInputs& in, const QHeadValues& values,
                      StoredQHead& out);

// Writes codes, scales (MXFP4) and weight of one head; no other byte.
void StoreQHead(const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored, std::int64_t token,
                std::int64_t head, const IndexerQOutputs& out);

}  // namespace kvexact
