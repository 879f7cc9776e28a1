// SPDX-License-Identifier: Apache-2.0
// The seam: an operation is a sequence of these, and a variant of a kernel is a Stages value with
// some of them replaced.
#pragma once

#include <cstdint>
#include <span>

#include "reference/numerics/enclosure.h"
#include "reference/numerics/strict.h"
#include "reference/stages/angles.h"
#include "reference/stages/compress.h"
#include "reference/stages/fold_weight.h"
#include "reference/stages/gather.h"
#include "reference/stages/launch.h"
#include "reference/stages/locate.h"
#include "reference/stages/paged_store.h"
#include "reference/stages/q_head.h"
#include "reference/stages/quantise.h"
#include "reference/stages/quantise_token.h"

namespace kvexact {

template <class A>
struct ArithmeticStages {
  void (*weighted_mean)(const A&, const Window&, typename A::Row&);
  void (*rms_norm)(const A&, typename A::Row&, std::span<const float> weight, float eps);
  void (*rope)(const A&, typename A::Row&, const RopeAngles&);
};

struct Stages {
  // The launcher.
  void (*launch)(CompressLaunch&);
  void (*launch_q)(IndexerQLaunch&);
  TwoStagePlan (*plan)(const CompressInputs&);
  // Which tokens, rows and angles.
  bool (*locate)(const CompressInputs&, std::int64_t index, LiveToken&);
  bool (*locate_finalize)(const CompressInputs&, std::int64_t index, LiveToken&);  // second stage of the split path
  void (*gather)(const CompressInputs&, const LiveToken&, Window&);
  RopeAngles (*angles)(const RopeSite&);
  // Before rounding, over either arithmetic.
  ArithmeticStages<Strict> strict;
  ArithmeticStages<Enclosure> enclosure;
  // From values to codes and scales. `quantise` is the sequence of the five before it.
  void (*quantise_input)(std::span<const float> values, float* rounded);
  float (*absmax)(const QuantiseRule&, std::span<const float> values);
  int (*exponent)(const QuantiseRule&, float absmax);
  void (*encode)(const QuantiseRule&, std::span<const float> values, int exponent, std::uint8_t* codes);
  std::uint32_t (*stored_scale)(spec::ScaleType type, int exponent);
  void (*quantise)(const Stages&, const QuantiseTask&, QuantisedValues&);
  void (*round_rope)(std::span<const float> values, std::uint16_t* bf16);
  void (*round_q_head)(const Stages&, const Policy&, const IndexerQInputs&, const QHeadValues&, StoredQHead&);
  float (*fold_weight)(const IndexerQInputs&, float weight, float scale);
  std::uint32_t (*stored_weight)(const IndexerQInputs&, float weight);
  // To memory.
  void (*pack)(std::span<const std::uint8_t> nibbles, std::uint8_t* bytes);
  void (*store)(const Stages&, const StoredToken&, const spec::PagedCache&, std::int64_t slot, std::uint8_t* bytes);
  void (*store_q_head)(const Stages&, const IndexerQInputs&, const StoredQHead&, std::int64_t token, std::int64_t head,
                       const IndexerQOutputs&);

  const ArithmeticStages<Strict>& over(const Strict&) const { return strict; }
  const ArithmeticStages<Enclosure>& over(const Enclosure&) const { return enclosure; }
};

// The stages as the seeds define them.
const Stages& SeedStages();

}  // namespace kvexact
