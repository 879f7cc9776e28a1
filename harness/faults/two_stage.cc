// SPDX-License-Identifier: Apache-2.0
// How two_stage divides its tokens, and what its second stage reads.
#include <algorithm>
#include <new>

#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"
#include "harness/faults/rows.h"

namespace kvexact {
namespace {

std::int64_t Decode(const CompressInputs& in) {
  return std::clamp<std::int64_t>(in.num_decode_tokens, 0, in.num_actual);
}

using PlanStage = TwoStagePlan (*)(const CompressInputs&);
template <PlanStage kStage>
void ReplacePlan(Variant& v) {
  v.stages.plan = kStage;
}

// The slices of the split path begin at 0.
TwoStagePlan NotOffset(const CompressInputs& in) { return {Decode(in), 0, in.num_actual - Decode(in)}; }
TwoStagePlan AllButOneDecode(const CompressInputs& in) {
  const std::int64_t decode = std::max<std::int64_t>(Decode(in) - 1, 0);
  return {decode, Decode(in), in.num_actual};
}
TwoStagePlan OneLate(const CompressInputs& in) {
  return {Decode(in), std::min(Decode(in) + 1, in.num_actual), in.num_actual};
}
TwoStagePlan DecodeOnly(const CompressInputs& in) { return {Decode(in), in.num_actual, in.num_actual}; }
TwoStagePlan PrefillOnly(const CompressInputs& in) {
  const std::int64_t decode = Decode(in);
  return {decode < in.num_actual ? 0 : decode, decode, in.num_actual};
}
TwoStagePlan CountForEnd(const CompressInputs& in) {
  const std::int64_t decode = Decode(in);
  return {decode, decode, std::max(decode, in.num_actual - decode)};
}
TwoStagePlan Everything(const CompressInputs& in) { return {Decode(in), 0, in.num_actual}; }

// num_decode_tokens as it is: beyond num_actual the single pass runs into the tail, below 0 the slices begin that
// far before the arrays' ends.
void Unclamped(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    if (launch.in.op != spec::Operation::kTwoStage) return;
    const std::int64_t tokens = launch.in.slot_mapping.size();
    launch.in.num_actual = launch.in.num_decode_tokens > launch.in.num_actual
                               ? std::min(launch.in.num_decode_tokens, tokens)
                               : launch.in.num_actual;
    if (launch.in.num_decode_tokens < 0) {
      const std::int64_t first = std::max<std::int64_t>(tokens + launch.in.num_decode_tokens, 0);
      // Tokens before the slice's begin are not run: the single pass has none of them either.
      auto& slots = launch.integers.emplace_back(static_cast<std::size_t>(tokens));
      for (std::int64_t i = 0; i < tokens; ++i) {
        slots[static_cast<std::size_t>(i)] = i < first ? std::int64_t{-1} : launch.in.slot_mapping[i];
      }
      new (&launch.in.slot_mapping) VectorView<std::int64_t>(slots.data(), tokens);
    }
  };
}

// The second stage skips only what its own slot says.
void StaleRows(Variant& v) {
  v.stages.locate_finalize = [](const CompressInputs& in, std::int64_t index, LiveToken& token) {
    if (in.op != spec::Operation::kTwoStage) return Locate(in, index, token);
    token.index = index;
    token.position = in.positions[index];
    token.kv_slot = in.kv_slot_mapping[index];
    return true;
  };
}

// The second stage does not look at the state slot.
void SecondStageIgnoresSlots(Variant& v) {
  v.stages.locate_finalize = [](const CompressInputs& in, std::int64_t index, LiveToken& token) {
    if (!IsBoundary(in.positions[index], in.ratio)) return false;
    token.index = index;
    token.position = in.positions[index];
    token.kv_slot = in.kv_slot_mapping[index];
    return true;
  };
}

// Positions, or KV slots, of the second stage counted from the arrays' begin.
template <class Change>
void SecondStageOf(Variant& v) {
  v.stages.locate_finalize = [](const CompressInputs& in, std::int64_t index, LiveToken& token) {
    if (!Locate(in, index, token)) return false;
    if (in.op == spec::Operation::kTwoStage) Change::Of(in, index - Decode(in), token);
    return true;
  };
}
struct KvSlotNotOffset {
  static void Of(const CompressInputs& in, std::int64_t i, LiveToken& token) { token.kv_slot = in.kv_slot_mapping[i]; }
};
struct PositionNotOffset {
  static void Of(const CompressInputs& in, std::int64_t i, LiveToken& token) {
    token.position = std::max<std::int64_t>(in.positions[i], 0);
  }
};

// Scratch of so many rows, reused: a token of the second stage finds what the last one with its row left there.
template <std::int64_t kScratchRows>
void ScratchWraps(Variant& v) {
  v.stages.gather = [](const CompressInputs& in, const LiveToken& token, Window& window) {
    LiveToken last = token;
    if (in.op == spec::Operation::kTwoStage && token.index >= Decode(in)) {
      for (std::int64_t i = token.index + kScratchRows; i < in.num_actual; i += kScratchRows) Locate(in, i, last);
    }
    BoundedGather(in, last, window);
  };
}

constexpr Fault kRows[] = {
    {"two-stage-offset", "two stage", "slices of the metadata not offset by the decode count",
     "decode and prefill mixed", kTwoStageOnly, &ReplacePlan<&NotOffset>},
    {"two-stage-no-clamp", "two stage", "num_decode_tokens used unclamped", "larger than num_actual, or negative",
     kTwoStageOnly, &Unclamped},
    {"two-stage-stale", "two stage", "stage 2 runs on rows that stage 1 skipped",
     "scratch full of NaN, a skipped token whose KV slot is valid", kTwoStageOnly, &StaleRows},
    {"two-stage-finalize-slots", "two stage", "stage 2 does not skip negative state slots",
     "a window's end with a negative slot and a valid KV slot", kTwoStageOnly | kFinalizeOnly,
     &SecondStageIgnoresSlots},
    {"two-stage-last-decode", "two stage", "the last decode token is not run", "a decode token", kTwoStageOnly,
     &ReplacePlan<&AllButOneDecode>},
    {"two-stage-first-prefill", "two stage", "the first prefill token is not run", "decode and prefill mixed",
     kTwoStageOnly, &ReplacePlan<&OneLate>},
    {"two-stage-decode-only", "two stage", "prefill tokens are not run", "a prefill token", kTwoStageOnly,
     &ReplacePlan<&DecodeOnly>},
    {"two-stage-prefill-only", "two stage", "decode tokens of a mixed batch are not run", "decode and prefill mixed",
     kTwoStageOnly, &ReplacePlan<&PrefillOnly>},
    {"two-stage-count-for-end", "two stage", "the number of prefill tokens taken as their end",
     "decode and prefill mixed", kTwoStageOnly, &ReplacePlan<&CountForEnd>},
    {"two-stage-kv-slot-offset", "two stage", "KV slots of stage 2 not offset by the decode count",
     "decode and prefill mixed", kTwoStageOnly, &SecondStageOf<KvSlotNotOffset>},
    {"two-stage-position-offset", "two stage", "positions of stage 2 not offset by the decode count",
     "decode and prefill mixed", kTwoStageOnly, &SecondStageOf<PositionNotOffset>},
    {"two-stage-scratch-256", "two stage", "scratch rows modulo 256", "two prefill tokens that far apart",
     kTwoStageOnly, &ScratchWraps<256>},
    {"two-stage-scratch-1024", "two stage", "scratch rows modulo 1,024", "two prefill tokens that far apart",
     kTwoStageOnly, &ScratchWraps<1024>},
    {"two-stage-decode-twice", "two stage", "decode tokens run through both paths", "no input", kTwoStageOnly,
     &ReplacePlan<&Everything>, FaultClass::kEquivalent,
     "Both paths store the same bytes at the same slots: gather_split and finalize equal the single pass, whose tests "
     "compare them, and stored slots are distinct."},
};

}  // namespace

std::span<const Fault> TwoStageFaults() { return kRows; }

}  // namespace kvexact
