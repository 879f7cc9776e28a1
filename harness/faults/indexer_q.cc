// SPDX-License-Identifier: Apache-2.0
// The indexer's Q: scales, folded weights, placement.
#include "reference/operations/indexer_q.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"
#include "reference/formats/bf16.h"

namespace kvexact {
namespace {

bool IsFp8(const IndexerQInputs& in) { return in.codes != QCodes::kE2M1; }

using FoldStage = float (*)(const IndexerQInputs&, float, float);
template <FoldStage kStage>
void ReplaceFold(Variant& v) {
  v.stages.fold_weight = kStage;
}

float ScaleMissing(const IndexerQInputs& in, float weight, float) { return weight * in.softmax_scale * in.head_scale; }
float ScaleInMxfp4(const IndexerQInputs& in, float weight, float scale) {
  return weight * scale * in.softmax_scale * in.head_scale;
}
float ScaleReciprocal(const IndexerQInputs& in, float weight, float scale) { return FoldWeight(in, weight, 1 / scale); }
float ScaleTwice(const IndexerQInputs& in, float weight, float scale) { return FoldWeight(in, weight, scale * scale); }
float HeadScaleInverse(const IndexerQInputs& in, float weight, float scale) {
  IndexerQInputs other = in;
  other.head_scale = 1 / in.head_scale;
  return FoldWeight(other, weight, scale);
}
float HeadScaleMissing(const IndexerQInputs& in, float weight, float scale) {
  IndexerQInputs other = in;
  other.head_scale = 1;
  return FoldWeight(other, weight, scale);
}
float HeadScaleTwice(const IndexerQInputs& in, float weight, float scale) {
  return FoldWeight(in, weight, scale) * in.head_scale;
}
float SoftmaxScaleMissing(const IndexerQInputs& in, float weight, float scale) {
  IndexerQInputs other = in;
  other.softmax_scale = 1;
  return FoldWeight(other, weight, scale);
}
float SoftmaxScaleInverse(const IndexerQInputs& in, float weight, float scale) {
  IndexerQInputs other = in;
  other.softmax_scale = 1 / in.softmax_scale;
  return FoldWeight(other, weight, scale);
}
float SoftmaxScaleFixed(const IndexerQInputs& in, float weight, float scale) {
  IndexerQInputs other = in;
  other.softmax_scale = 1 / std::sqrt(static_cast<float>(in.head_dim));
  return FoldWeight(other, weight, scale);
}
float HeadScaleFixed(const IndexerQInputs& in, float weight, float scale) {
  IndexerQInputs other = in;
  other.head_scale = 1 / std::sqrt(static_cast<float>(in.heads));
  return FoldWeight(other, weight, scale);
}
float NotFolded(const IndexerQInputs&, float weight, float) { return weight; }
float Bf16(float x) { return WidenBf16(RoundToBf16(x)); }
float ScalesInBf16(const IndexerQInputs& in, float weight, float scale) {
  IndexerQInputs other = in;
  other.softmax_scale = Bf16(in.softmax_scale);
  other.head_scale = Bf16(in.head_scale);
  return FoldWeight(other, weight, scale);
}
float RoundedWeight(const IndexerQInputs& in, float weight, float scale) { return Bf16(FoldWeight(in, weight, scale)); }
float RoundedStep(const IndexerQInputs& in, float weight, float scale) {
  const float scaled = Bf16((IsFp8(in) ? weight * scale : weight) * in.softmax_scale);
  return scaled * in.head_scale;
}
float AbsoluteWeight(const IndexerQInputs& in, float weight, float scale) {
  return FoldWeight(in, std::fabs(weight), scale);
}

void WeightsTruncated(Variant& v) {
  v.stages.stored_weight = [](const IndexerQInputs& in, float weight) {
    if (!in.weights_out_bf16 || weight != weight) return StoredWeight(in, weight);
    return std::bit_cast<std::uint32_t>(weight) >> 16;
  };
}
void WeightsFp16(Variant& v) {
  v.stages.stored_weight = [](const IndexerQInputs& in, float weight) {
    if (in.weights_out_bf16 || weight == 0 || !std::isfinite(weight)) return StoredWeight(in, weight);
    const int exponent = std::max(std::ilogb(weight), -14);
    const float step = std::ldexp(1.0F, exponent - 10);
    return StoredWeight(in, std::nearbyint(weight / step) * step);
  };
}

// ---- another head's or token's -----------------------------------------------------------------

template <class Change>
void ChangeHead(Variant& v) {
  v.stages.round_q_head = [](const Stages& stages, const Policy& policy, const IndexerQInputs& in,
                             const QHeadValues& values, StoredQHead& out) {
    RoundQHeadValues(stages, policy, in, values, out);
    out.weight = stages.fold_weight(in, Change::WeightOf(in, values.token, values.head), out.scale);
  };
}
struct FirstHead {
  static float WeightOf(const IndexerQInputs& in, std::int64_t token, std::int64_t) { return in.weights(token, 0); }
};
struct NextHead {
  static float WeightOf(const IndexerQInputs& in, std::int64_t token, std::int64_t head) {
    return in.weights(token, (head + 1) % in.heads);
  }
};
struct Transposed {
  static float WeightOf(const IndexerQInputs& in, std::int64_t token, std::int64_t head) {
    const std::int64_t place = head * in.num_actual + token;
    return in.weights(place / in.heads, place % in.heads);
  }
};
struct FirstToken {
  static float WeightOf(const IndexerQInputs& in, std::int64_t, std::int64_t head) { return in.weights(0, head); }
};

void FoldUpTo64(Variant& v) {
  v.stages.round_q_head = [](const Stages& stages, const Policy& policy, const IndexerQInputs& in,
                             const QHeadValues& values, StoredQHead& out) {
    RoundQHeadValues(stages, policy, in, values, out);
    if (values.head < 64) return;
    out.weight = stages.fold_weight(in, in.weights(values.token, values.head), 1);
  };
}

// The values of the head, rotated at the token's own position, with one scale for all heads of the token.
void ScalePerToken(Variant& v) {
  v.stages.round_q_head = [](const Stages& stages, const Policy& policy, const IndexerQInputs& in,
                             const QHeadValues& values, StoredQHead& out) {
    if (!IsFp8(in)) return RoundQHeadValues(stages, policy, in, values, out);
    const QuantiseRule rule = IndexerQRule(in.codes, policy);
    const auto dim = static_cast<std::size_t>(in.head_dim);
    float rounded[kMaxHeadDim];
    stages.quantise_input({values.rotated, dim}, rounded);
    float most = stages.absmax(rule, {rounded, dim});
    const Strict strict;
    for (std::int64_t h = 0; h < in.heads; ++h) {
      if (h == values.head) continue;
      Strict::Row row;
      float other[kMaxHeadDim];
      EvaluateQHead(stages, strict, in, values.token, h, row);
      stages.quantise_input({row.value, dim}, other);
      most = std::max(most, stages.absmax(rule, {other, dim}));
    }
    const int exponent = stages.exponent(rule, most);
    stages.encode(rule, {rounded, dim}, exponent, out.codes);
    out.scale = PowerOfTwo(exponent);
    out.weight = stages.fold_weight(in, in.weights(values.token, values.head), out.scale);
  };
}

// Absmax of Q as it came, before RoPE.
void AbsmaxOfGivenQ(Variant& v) {
  v.stages.round_q_head = [](const Stages& stages, const Policy& policy, const IndexerQInputs& in,
                             const QHeadValues& values, StoredQHead& out) {
    if (!IsFp8(in)) return RoundQHeadValues(stages, policy, in, values, out);
    const QuantiseRule rule = IndexerQRule(in.codes, policy);
    const auto dim = static_cast<std::size_t>(in.head_dim);
    float given[kMaxHeadDim];
    const std::uint16_t* q = in.q.row(values.token * in.heads + values.head).data();
    for (std::size_t i = 0; i < dim; ++i) given[i] = WidenBf16(q[i]);
    const int exponent = stages.exponent(rule, stages.absmax(rule, {given, dim}));
    float rounded[kMaxHeadDim];
    stages.quantise_input({values.rotated, dim}, rounded);
    stages.encode(rule, {rounded, dim}, exponent, out.codes);
    out.scale = PowerOfTwo(exponent);
    out.weight = stages.fold_weight(in, in.weights(values.token, values.head), out.scale);
  };
}

// All columns turn, the angles repeat.
void RotateAllDims(Variant& v) {
  v.stages.angles = [](const RopeSite& site) {
    RopeAngles angles = BoundedAngles(site);
    if (!IsQ(site)) return angles;
    angles.first_column = angles.identity_from = 0;
    angles.pairs = std::min<int>(site.head_dim / 2, static_cast<int>(site.cos_sin->cols()) - site.rope_dim / 2);
    return angles;
  };
}

// ---- placement -------------------------------------------------------------------------------

// The cell (token, head) that a head is stored at.
template <class Cell>
void ChangeCell(Variant& v) {
  v.stages.store_q_head = [](const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored,
                             std::int64_t token, std::int64_t head, const IndexerQOutputs& out) {
    const std::int64_t cell = Cell::Of(in, token, head);
    StoreQHead(stages, in, stored, cell / in.heads, cell % in.heads, out);
  };
}
struct HeadMajor {
  static std::int64_t Of(const IndexerQInputs& in, std::int64_t token, std::int64_t head) {
    return head * in.num_actual + token;
  }
};
struct HeadsReversed {
  static std::int64_t Of(const IndexerQInputs& in, std::int64_t token, std::int64_t head) {
    return token * in.heads + in.heads - 1 - head;
  }
};

void LastHeadMissing(Variant& v) {
  v.stages.store_q_head = [](const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored,
                             std::int64_t token, std::int64_t head, const IndexerQOutputs& out) {
    if (head + 1 < in.heads || in.heads == 1) StoreQHead(stages, in, stored, token, head, out);
  };
}
template <std::int64_t kHeads>
void AtMostHeads(Variant& v) {
  v.stages.store_q_head = [](const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored,
                             std::int64_t token, std::int64_t head, const IndexerQOutputs& out) {
    if (head < kHeads) StoreQHead(stages, in, stored, token, head, out);
  };
}
template <std::int64_t kRows>
void AtMostRows(Variant& v) {
  v.stages.store_q_head = [](const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored,
                             std::int64_t token, std::int64_t head, const IndexerQOutputs& out) {
    if (token * in.heads + head < kRows) StoreQHead(stages, in, stored, token, head, out);
  };
}
template <std::int64_t kGroup>
void WholeGroupsOfHeads(Variant& v) {
  v.stages.store_q_head = [](const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored,
                             std::int64_t token, std::int64_t head, const IndexerQOutputs& out) {
    if (in.heads < kGroup || head < in.heads / kGroup * kGroup) StoreQHead(stages, in, stored, token, head, out);
  };
}
void PositionOfFirstToken(Variant& v) {
  v.stages.launch_q = [](IndexerQLaunch& launch) {
    // A stride of 0 from token to token.
    if (launch.in.num_actual < 1) return;
    const std::int64_t* data = launch.in.positions.data();
    thread_local std::vector<std::int64_t> repeated;
    repeated.assign(static_cast<std::size_t>(launch.in.tokens), data[0]);
    new (&launch.in.positions) VectorView<std::int64_t>(repeated.data(), launch.in.tokens);
  };
}
void ScalesReversed(Variant& v) {
  v.stages.store_q_head = [](const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored,
                             std::int64_t token, std::int64_t head, const IndexerQOutputs& out) {
    StoredQHead changed = stored;
    std::reverse(changed.scales, changed.scales + in.head_dim / kMxfp4Block);
    StoreQHead(stages, in, changed, token, head, out);
  };
}
void PlusZeroWeight(Variant& v) {
  v.stages.store_q_head = [](const Stages& stages, const IndexerQInputs& in, const StoredQHead& stored,
                             std::int64_t token, std::int64_t head, const IndexerQOutputs& out) {
    StoredQHead changed = stored;
    changed.weight = in.weights(token, head) == 0 ? 0 : stored.weight;
    StoreQHead(stages, in, changed, token, head, out);
  };
}

constexpr Fault kRows[] = {
    {"q-fold-missing", "indexer Q", "q scale not folded into the weights (FP8)", "scale other than 1", kQFp8,
     &ReplaceFold<&ScaleMissing>},
    {"q-fold-inverse", "indexer Q", "divides by the head scale instead of multiplying", "any head scale other than 1",
     kQ, &ReplaceFold<&HeadScaleInverse>},
    {"q-fold-reciprocal", "indexer Q", "folds the reciprocal of the q scale (FP8)", "scale other than 1", kQFp8,
     &ReplaceFold<&ScaleReciprocal>},
    {"q-fold-twice", "indexer Q", "folds the q scale twice (FP8)", "scale other than 1", kQFp8,
     &ReplaceFold<&ScaleTwice>},
    {"q-fold-mxfp4", "indexer Q", "folds the first block's scale (MXFP4)", "scale other than 1", kQMxfp4,
     &ReplaceFold<&ScaleInMxfp4>},
    {"q-head-scale-missing", "indexer Q", "head scale not applied", "any head scale other than 1", kQ,
     &ReplaceFold<&HeadScaleMissing>},
    {"q-head-scale-twice", "indexer Q", "head scale applied twice", "any head scale other than 1", kQ,
     &ReplaceFold<&HeadScaleTwice>},
    {"q-head-scale-fixed", "indexer Q", "1 / sqrt(heads) whatever head scale was asked for", "another head scale", kQ,
     &ReplaceFold<&HeadScaleFixed>},
    {"q-softmax-scale-missing", "indexer Q", "softmax scale not applied", "any softmax scale other than 1", kQ,
     &ReplaceFold<&SoftmaxScaleMissing>},
    {"q-softmax-scale-inverse", "indexer Q", "divides by the softmax scale", "any softmax scale other than 1", kQ,
     &ReplaceFold<&SoftmaxScaleInverse>},
    {"q-softmax-scale-fixed", "indexer Q", "1 / sqrt(head_dim) whatever softmax scale was asked for",
     "another softmax scale", kQ, &ReplaceFold<&SoftmaxScaleFixed>},
    {"q-weights-as-given", "indexer Q", "nothing folded", "any", kQ, &ReplaceFold<&NotFolded>},
    {"q-scales-bf16", "indexer Q", "softmax and head scale rounded to bf16", "scales with low mantissa bits", kQ,
     &ReplaceFold<&ScalesInBf16>},
    {"q-weights-bf16", "indexer Q", "folded weights rounded to bf16 where fp32 is asked", "fp32 weights out", kQ,
     &ReplaceFold<&RoundedWeight>},
    {"q-weights-bf16-step", "indexer Q", "rounded to bf16 before the head scale", "weights with low mantissa bits", kQ,
     &ReplaceFold<&RoundedStep>},
    {"q-weights-absolute", "indexer Q", "weights without their sign", "a negative weight", kQ,
     &ReplaceFold<&AbsoluteWeight>},
    {"q-weights-truncated", "indexer Q", "truncated to bf16, not rounded", "bf16 weights out", kQMxfp4,
     &WeightsTruncated},
    {"q-weights-fp16", "indexer Q", "fp32 weights rounded to fp16", "weights with low mantissa bits", kQ, &WeightsFp16},
    {"q-weights-first-head", "indexer Q", "weight of head 0 for all", "two heads", kQ, &ChangeHead<FirstHead>},
    {"q-weights-next-head", "indexer Q", "weight of the next head", "two heads", kQ, &ChangeHead<NextHead>},
    {"q-weights-first-token", "indexer Q", "weights of token 0 for all", "two tokens", kQ, &ChangeHead<FirstToken>},
    {"q-weights-transposed", "indexer Q", "weights read as [heads, tokens]", "two heads and tokens", kQ,
     &ChangeHead<Transposed>},
    {"q-scale-per-token", "indexer Q", "one scale for all heads of a token", "heads with different amax", kQFp8,
     &ScalePerToken},
    {"q-amax-before-rope", "indexer Q", "absmax of Q before RoPE", "RoPE that changes the maximum", kQFp8,
     &AbsmaxOfGivenQ},
    {"q-nope-rotated", "indexer Q", "rotates all dims", "any", kQ, &RotateAllDims},
    {"q-head-major", "indexer Q", "stored as [heads, tokens]", "two heads and tokens", kQ, &ChangeCell<HeadMajor>},
    {"q-heads-reversed", "indexer Q", "heads stored in reverse order", "two heads", kQ, &ChangeCell<HeadsReversed>},
    {"q-last-head", "indexer Q", "the last of several heads not stored", "two heads", kQ, &LastHeadMissing},
    {"q-heads-64", "indexer Q", "at most 64 heads stored", "more heads", kQ, &AtMostHeads<64>},
    {"q-rows-256", "indexer Q", "at most 256 heads of all tokens stored", "more tokens and heads", kQ,
     &AtMostRows<256>},
    {"q-rows-1024", "indexer Q", "at most 1,024 heads of all tokens stored", "more tokens and heads", kQ,
     &AtMostRows<1024>},
    {"q-rows-65535", "indexer Q",
     "at most 65,535 heads of all tokens stored, as many as a grid has in its second dimension",
     "more tokens and heads", kQ, &AtMostRows<65535>},
    {"q-fold-64-heads", "indexer Q", "q scale not folded from head 64 on (FP8)", "more heads", kQFp8, &FoldUpTo64},
    {"q-groups-of-4", "indexer Q", "heads in groups of 4, the rest not stored", "more than 4 heads, not a multiple", kQ,
     &WholeGroupsOfHeads<4>},
    {"q-position-zero", "indexer Q", "every token turns at the first one's position", "two positions", kQ,
     &PositionOfFirstToken},
    {"q-scales-reversed", "indexer Q", "the four scale bytes of a head in reverse order", "blocks with different amax",
     kQMxfp4, &ScalesReversed},
    {"q-weight-zero-sign", "indexer Q", "a folded weight of -0 stored as +0", "a weight of -0", kQ, &PlusZeroWeight},
};

}  // namespace

std::span<const Fault> IndexerQFaults() { return kRows; }

}  // namespace kvexact
