// SPDX-License-Identifier: Apache-2.0
// Which tokens run, and where they store.
#include <new>

#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"

namespace kvexact {
namespace {

template <class T>
void Rebind(VectorView<T>& view, const T* data, std::int64_t size) {
  new (&view) VectorView<T>(data, size);
}

// A changed copy of the KV slot mapping.
template <class Change>
void ChangeKvSlots(CompressLaunch& launch, const Change& change) {
  const auto& given = launch.in.kv_slot_mapping;
  if (given.size() == 0) return;
  auto& slots = launch.integers.emplace_back(static_cast<std::size_t>(given.size()));
  for (std::int64_t i = 0; i < given.size(); ++i) slots[static_cast<std::size_t>(i)] = change(i, given[i]);
  Rebind(launch.in.kv_slot_mapping, slots.data(), given.size());
}

void RunWholeArrays(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) { launch.in.num_actual = launch.in.slot_mapping.size(); };
  v.stages.launch_q = [](IndexerQLaunch& launch) { launch.in.num_actual = launch.in.tokens; };
}

void DropLastToken(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) { launch.in.num_actual -= launch.in.num_actual > 1 ? 1 : 0; };
  v.stages.launch_q = [](IndexerQLaunch& launch) { launch.in.num_actual -= launch.in.num_actual > 1 ? 1 : 0; };
}

template <class Passes>
bool LocateIf(const CompressInputs& in, std::int64_t index, LiveToken& token, const Passes& passes) {
  if (index >= in.num_actual || !passes(in, index)) return false;
  token.index = index;
  token.position = in.positions[index];
  token.kv_slot = in.op == spec::Operation::kGatherSplit ? -1 : in.kv_slot_mapping[index];
  return true;
}

using LocateStage = bool (*)(const CompressInputs&, std::int64_t, LiveToken&);

void Replace(Variant& v, LocateStage stage) {
  v.stages.locate = stage;
  v.stages.locate_finalize = stage;
}

bool RightBoundary(const CompressInputs& in, std::int64_t i) { return IsBoundary(in.positions[i], in.ratio); }
bool RightSlot(const CompressInputs& in, std::int64_t i) { return in.slot_mapping[i] >= 0; }

void IgnoreSlots(Variant& v) {
  Replace(v, [](const CompressInputs& in, std::int64_t i, LiveToken& token) {
    return LocateIf(in, i, token, RightBoundary);
  });
}

void SlotZeroSkips(Variant& v) {
  Replace(v, [](const CompressInputs& in, std::int64_t i, LiveToken& token) {
    return LocateIf(in, i, token, [](const CompressInputs& n, std::int64_t k) {
      return n.slot_mapping[k] > 0 && RightBoundary(n, k);
    });
  });
}

void BoundaryAtZero(Variant& v) {
  Replace(v, [](const CompressInputs& in, std::int64_t i, LiveToken& token) {
    return LocateIf(in, i, token, [](const CompressInputs& n, std::int64_t k) {
      return RightSlot(n, k) && n.positions[k] % n.ratio == 0;
    });
  });
}

void EveryTokenEnds(Variant& v) {
  Replace(v, [](const CompressInputs& in, std::int64_t i, LiveToken& token) {
    return LocateIf(in, i, token,
                    [](const CompressInputs& n, std::int64_t k) { return RightSlot(n, k) && n.positions[k] >= 0; });
  });
}

void BoundaryByIndex(Variant& v) {
  Replace(v, [](const CompressInputs& in, std::int64_t i, LiveToken& token) {
    return LocateIf(in, i, token, [](const CompressInputs& n, std::int64_t k) {
      return RightSlot(n, k) && IsBoundary(k, n.ratio) && n.positions[k] >= 0;
    });
  });
}

void BoundaryByMask(Variant& v) {
  Replace(v, [](const CompressInputs& in, std::int64_t i, LiveToken& token) {
    return LocateIf(in, i, token, [](const CompressInputs& n, std::int64_t k) {
      return RightSlot(n, k) && (n.positions[k] & (n.ratio - 1)) == n.ratio - 1;
    });
  });
}

void FullWindowsOnly(Variant& v) {
  Replace(v, [](const CompressInputs& in, std::int64_t i, LiveToken& token) {
    return LocateIf(in, i, token, [](const CompressInputs& n, std::int64_t k) {
      return RightSlot(n, k) && RightBoundary(n, k) && n.positions[k] + 1 >= n.window_rows();
    });
  });
}

void LastRowForNegativeSlot(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    const std::int64_t page = launch.out.cache.page_tokens;
    ChangeKvSlots(launch, [page](std::int64_t, std::int64_t slot) { return slot < 0 ? page - 1 : slot; });
  };
}

void KvSlotZeroSkips(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    ChangeKvSlots(launch, [](std::int64_t, std::int64_t slot) { return slot == 0 ? std::int64_t{-1} : slot; });
  };
}

void KvSlotFromStateSlot(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    const auto slots = launch.in.slot_mapping;
    ChangeKvSlots(launch, [&](std::int64_t i, std::int64_t) { return slots[i]; });
  };
}

void KvSlotByRatio(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    const std::int64_t ratio = launch.in.ratio;
    ChangeKvSlots(launch, [&](std::int64_t, std::int64_t slot) { return slot < 0 ? slot : slot / ratio; });
  };
}

void KvSlotOfNextToken(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    const auto slots = launch.in.kv_slot_mapping;
    ChangeKvSlots(launch, [&](std::int64_t i, std::int64_t) { return slots[(i + 1) % slots.size()]; });
  };
}

// The MXFP4 kernel on the cache of sparse_attn: 512 nibbles, 16 scales, everything rotated as at head 128.
void Mxfp4KernelAtHead512(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    if (launch.in.op != spec::Operation::kSparseAttn) return;
    launch.in.op = spec::Operation::kIndexerMxfp4;
    spec::Layout& layout = launch.out.cache.layout;
    layout.code_type = spec::CodeType::kE2M1Nibble;
    layout.code_values = static_cast<int>(launch.in.head_dim);
    layout.quant_block = 32;
    layout.rope_values = 0;
    layout.pad_scales = 0;
  };
}

constexpr Fault kRows[] = {
    {"dispatch-512-fp4", "dispatch", "head 512 with use_fp4_cache sent to the MXFP4 kernel",
     "a subject that runs with use_fp4_cache on, sparse_attn", kSparse, &Mxfp4KernelAtHead512},
    {"num-actual-ignored", "locate", "runs over the whole arrays", "arrays longer than num_actual", kCompress | kQ,
     &RunWholeArrays},
    {"locate-last-token", "locate", "the last token is not run", "any", kCompress | kQ, &DropLastToken},
    {"store-ignore-slot-mapping", "locate", "a negative state slot is not skipped",
     "-1 in the slot mapping, valid KV slot", kCompress, &IgnoreSlots},
    {"locate-slot-zero", "locate", "state slot 0 is skipped too", "a live token with slot 0", kCompress,
     &SlotZeroSkips},
    {"store-negative-slot", "locate", "KV slot -1 writes to the last row of a page", "-1 in the KV slot mapping",
     kStores, &LastRowForNegativeSlot},
    {"locate-kv-slot-zero", "locate", "KV slot 0 is skipped too", "a stored token with KV slot 0", kStores,
     &KvSlotZeroSkips},
    {"gather-boundary", "locate", "compresses when position % ratio == 0", "any", kCompress, &BoundaryAtZero},
    {"locate-every-token", "locate", "compresses at every position", "a token that ends no window", kCompress,
     &EveryTokenEnds},
    {"locate-boundary-by-index", "locate", "tests the token's index in the launch, not its position",
     "a window that ends at another index", kCompress, &BoundaryByIndex},
    {"locate-boundary-mask", "locate", "tests position & (ratio - 1)", "a ratio that is no power of two", kCompress,
     &BoundaryByMask},
    {"locate-full-windows", "locate", "skips windows that begin before position 0", "overlap, the first window",
     kCompress, &FullWindowsOnly},
    {"store-state-slot", "locate", "stores at the state slot", "KV slots unlike state slots", kStores,
     &KvSlotFromStateSlot},
    {"store-slot-by-ratio", "locate", "divides the KV slot by the ratio", "KV slot above 0, ratio above 1", kStores,
     &KvSlotByRatio},
    {"store-next-slot", "locate", "stores at the KV slot of the next token", "two tokens", kStores, &KvSlotOfNextToken},
};

}  // namespace

std::span<const Fault> LocateFaults() { return kRows; }

}  // namespace kvexact
