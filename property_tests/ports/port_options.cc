// SPDX-License-Identifier: Apache-2.0
#include "property_tests/ports/port_options.h"

namespace kvexact::ports {
namespace {

float ScaleOf(const IndexerQInputs& in, float scale) { return in.codes == QCodes::kE2M1 ? 1.0F : scale; }

float ScalesFirst(const IndexerQInputs& in, float weight, float scale) {
  return weight * (ScaleOf(in, scale) * (in.softmax_scale * in.head_scale));
}
float HeadScaleFirst(const IndexerQInputs& in, float weight, float scale) {
  return weight * in.head_scale * (in.softmax_scale * ScaleOf(in, scale));
}
float QScaleLast(const IndexerQInputs& in, float weight, float scale) {
  return weight * in.softmax_scale * in.head_scale * ScaleOf(in, scale);
}

constexpr PortOptions kPorts[] = {
    {.name = "plain", .budget = "default"},
    {.name = "sums-reversed", .budget = "default", .rows = SumOrder::kReversed, .head = SumOrder::kReversed},
    {.name = "sums-pairwise", .budget = "tree32", .rows = SumOrder::kPairwise, .head = SumOrder::kPairwise},
    {.name = "sums-split", .budget = "default", .rows = SumOrder::kSplit, .head = SumOrder::kSplit},
    {.name = "sums-kahan", .budget = "default", .rows = SumOrder::kKahan, .head = SumOrder::kKahan},
    {.name = "sums-random", .budget = "default", .rows = SumOrder::kRandom, .head = SumOrder::kRandom},
    {.name = "softmax-online", .budget = "online", .normalise = Normalise::kOnline},
    {.name = "weights-normalised", .budget = "default", .normalise = Normalise::kBefore},
    {.name = "contracted", .budget = "default", .contract = true},
    {.name = "exp-two-ulp", .budget = "default", .exp = ExpForm::kTwoUlp},
    {.name = "exp-table", .budget = "default", .exp = ExpForm::kTable},
    {.name = "exp2-of-difference", .budget = "default", .exp = ExpForm::kExp2},
    {.name = "exp2-of-scaled", .budget = "scaled-exp2", .exp = ExpForm::kScaledTerms},
    {.name = "exp2-of-fused", .budget = "scaled-exp2", .exp = ExpForm::kFusedTerm, .contract = true},
    {.name = "reciprocal", .budget = "default", .reciprocal = true},
    {.name = "rsqrt-fast", .budget = "default", .rsqrt = Rsqrt::kFast},
    {.name = "flush", .budget = "default", .flush = true},
    {.name = "fold-scales-first", .budget = "default", .fold = &ScalesFirst},
    {.name = "fold-head-scale-first", .budget = "default", .fold = &HeadScaleFirst},
    {.name = "fold-q-scale-last", .budget = "default", .fold = &QScaleLast},
    {.name = "gpu-like",
     .budget = "default",
     .rows = SumOrder::kSplit,
     .head = SumOrder::kPairwise,
     .exp = ExpForm::kExp2,
     .normalise = Normalise::kBefore,
     .contract = true,
     .reciprocal = true,
     .rsqrt = Rsqrt::kFast,
     .flush = true,
     .fold = &QScaleLast},
    {.name = "gpu-like-online",
     .budget = "online",
     .rows = SumOrder::kForward,
     .head = SumOrder::kSplit,
     .exp = ExpForm::kExp2,
     .normalise = Normalise::kOnline,
     .contract = true,
     .reciprocal = true,
     .rsqrt = Rsqrt::kFast,
     .flush = true,
     .fold = &ScalesFirst},
};

}  // namespace

std::span<const PortOptions> Ports() { return kPorts; }

}  // namespace kvexact::ports
