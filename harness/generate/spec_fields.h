// SPDX-License-Identifier: Apache-2.0
// The settings of a CaseSpec as rows: key, the operations that have it, and where it lives.
#pragma once

#include "harness/case/schema.h"
#include "harness/generate/case_spec.h"

namespace kvexact::generate {

inline constexpr schema::Bits kStateOps =
    schema::Bit(spec::Operation::kSparseAttn) | schema::Bit(spec::Operation::kIndexerFp8) |
    schema::Bit(spec::Operation::kIndexerMxfp4) | schema::Bit(spec::Operation::kTwoStage) |
    schema::Bit(spec::Operation::kGatherSplit);
inline constexpr schema::Bits kOverlapOps = schema::Bit(spec::Operation::kSparseAttn) |
                                            schema::Bit(spec::Operation::kIndexerFp8) |
                                            schema::Bit(spec::Operation::kIndexerMxfp4);
inline constexpr schema::Bits kFinalizeOp = schema::Bit(spec::Operation::kFinalize);
inline constexpr schema::Bits kGatherSplitOp = schema::Bit(spec::Operation::kGatherSplit);
inline constexpr schema::Bits kTwoStageOp = schema::Bit(spec::Operation::kTwoStage);
inline constexpr schema::Bits kQFp8Op = schema::Bit(spec::Operation::kIndexerQFp8);
inline constexpr schema::Bits kQMxfp4Op = schema::Bit(spec::Operation::kIndexerQMxfp4);
inline constexpr schema::Bits kQOps = kQFp8Op | kQMxfp4Op;
inline constexpr schema::Bits kStoreOps = kOverlapOps | kTwoStageOp | kFinalizeOp;
inline constexpr schema::Bits kCompressOps = kStateOps | kFinalizeOp;
inline constexpr schema::Bits kAllOps = kCompressOps | kQOps;

// Calls visit(key, operations, field...) for every setting but `op`, with that field of each configuration.
template <class Visit, class... Config>
void ForEachConfigSetting(Visit&& visit, Config&... c) {
  visit("ratio", kCompressOps, c.ratio...);
  visit("overlap", kOverlapOps, c.overlap...);
  visit("block", kStateOps, c.block...);
  visit("width_pad", kStateOps, c.width_pad...);
  visit("row_pad", kStateOps, c.row_pad...);
  visit("block_pad", kStateOps, c.block_pad...);
  visit("page", kStoreOps, c.page...);
  visit("layout", kStoreOps, c.layout...);
  visit("token_pad", kStoreOps, c.token_pad...);
  visit("scale_pad", kStoreOps, c.scale_pad...);
  visit("base", kStoreOps, c.base...);
  visit("page_multiple", kStoreOps, c.page_multiple...);
  visit("rope", kStoreOps | kQOps, c.rope...);
  visit("angle_pad", kStoreOps | kQOps, c.angle_pad...);
  visit("scratch_pad", kGatherSplitOp | kFinalizeOp, c.scratch_pad...);
  visit("splits", kGatherSplitOp, c.splits...);
  visit("heads", kQOps, c.heads...);
  visit("fnuz", kQFp8Op, c.fnuz...);
  visit("norm_type", kStoreOps, c.norm_type...);
  visit("angle_type", kQOps, c.angle_type...);
  visit("weight_type", kQOps, c.weight_type...);
  visit("out_type", kQMxfp4Op, c.out_type...);
}

// The same for whole specs, configuration first.
template <class Visit, class... Spec>
void ForEachSetting(Visit&& visit, Spec&... s) {
  ForEachConfigSetting(visit, s.config...);
  visit("seed", kAllOps, s.seed...);
  visit("requests", kAllOps, s.requests...);
  visit("order", kAllOps, s.order...);
  visit("decode", kTwoStageOp, s.decode...);
  visit("skip_slots", kCompressOps, s.skip_slots...);
  visit("skip_kv_slots", kStoreOps, s.skip_kv_slots...);
  visit("kv_slots_everywhere", kStoreOps, s.kv_slots_everywhere...);
  visit("garbage", kAllOps, s.garbage...);
  visit("tail", kAllOps, s.tail...);
  visit("blocks", kStateOps, s.blocks...);
  visit("spare_blocks", kStateOps, s.spare_blocks...);
  visit("spare_columns", kStateOps, s.spare_columns...);
  visit("kv_slots", kStoreOps, s.kv_slots...);
  visit("spare_pages", kStoreOps, s.spare_pages...);
  visit("spare_angles", kStoreOps | kQOps, s.spare_angles...);
  visit("values", kAllOps, s.values...);
  visit("scores", kStateOps, s.scores...);
  visit("weights", kStoreOps | kQOps, s.weights...);
  visit("angles", kStoreOps | kQOps, s.angles...);
  visit("special", kAllOps, s.special...);
  visit("unread", kAllOps, s.unread...);
  visit("eps", kStoreOps, s.eps...);
  visit("softmax_scale", kQOps, s.softmax_scale...);
  visit("head_scale", kQOps, s.head_scale...);
}

}  // namespace kvexact::generate
