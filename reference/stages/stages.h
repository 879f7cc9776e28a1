// SPDX-License-Identifier: Apache-2.0
// The seam: an operation is a sequence of these, and a variant of a kernel is a Stages value with
// some of them replaced.
#pragma once

#include <span>

#include "reference/numerics/enclosure.h"
#include "reference/numerics/strict.h"
#include "reference/stages/compress.h"
#include "reference/stages/gather.h"
#include "reference/stages/locate.h"
#include "reference/stages/paged_store.h"
#include "reference/stages/quantise.h"

namespace kvexact {

template <class A>
struct ArithmeticStages {
  void (*weighted_mean)(const A&, const Window&, typename A::Row&);
  void (*rms_norm)(const A&, typename A::Row&, std::span<const float> weight, float eps);
  void (*rope)(const A&, typename A::Row&, const RopeAngles&);
};

struct Stages {
  bool (*locate)(const CompressInputs&, std::int64_t index, LiveToken&);
  void (*gather)(const CompressInputs&, const LiveToken&, Window&);
  ArithmeticStages<Strict> strict;
  ArithmeticStages<Enclosure> enclosure;
  float (*absmax)(const QuantiseRule&, std::span<const float> values);
  int (*exponent)(const QuantiseRule&, float absmax);
  void (*encode)(const QuantiseRule&, std::span<const float> values, int exponent, std::uint8_t* codes);
  void (*store)(const StoredToken&, const spec::PagedCache&, std::int64_t slot, std::uint8_t* bytes);

  const ArithmeticStages<Strict>& over(const Strict&) const { return strict; }
  const ArithmeticStages<Enclosure>& over(const Enclosure&) const { return enclosure; }
};

// The stages as the seeds define them.
const Stages& SeedStages();

}  // namespace kvexact
