// SPDX-License-Identifier: Apache-2.0
#include "reference/stages/quantise_token.h"

#include "reference/formats/bf16.h"
#include "reference/stages/stages.h"

namespace kvexact {

void RoundInputToBf16(std::span<const float> values, float* rounded) {
  const float* x = values.data();
  for (std::size_t i = 0, n = values.size(); i < n; ++i) rounded[i] = WidenBf16(RoundToBf16(x[i]));
}

void QuantiseBlocks(const Stages& stages, const QuantiseTask& task, QuantisedValues& out) {
  float rounded[kMaxHeadDim];
  std::span<const float> values = task.values;
  if (task.bf16_first) {
    stages.quantise_input(values, rounded);
    values = {rounded, values.size()};
  }
  const auto block = static_cast<std::size_t>(task.block);
  for (std::size_t b = 0, first = 0; first < values.size(); ++b, first += block) {
    const std::span<const float> part = values.subspan(first, block);
    const int exponent = stages.exponent(task.rule, stages.absmax(task.rule, part));
    stages.encode(task.rule, part, exponent, out.codes + first);
    out.scale[b] = PowerOfTwo(exponent);
    out.stored[b] = stages.stored_scale(task.scale_type, exponent);
  }
}

void RoundRopeToBf16(std::span<const float> values, std::uint16_t* bf16) {
  const float* x = values.data();
  for (std::size_t i = 0, n = values.size(); i < n; ++i) bf16[i] = RoundToBf16(x[i]);
}

}  // namespace kvexact
