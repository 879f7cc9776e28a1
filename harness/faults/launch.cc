// SPDX-License-Identifier: Apache-2.0
// How many tokens a launch covers, and in which integer type their metadata are held.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"

namespace kvexact {
namespace {

template <class Launch>
void CoverAtMost(Launch& launch, std::int64_t tokens) {
  launch.in.num_actual = std::min(launch.in.num_actual, tokens);
}

template <std::int64_t kTokens>
void AtMost(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) { CoverAtMost(launch, kTokens); };
  v.stages.launch_q = [](IndexerQLaunch& launch) { CoverAtMost(launch, kTokens); };
}

template <std::int64_t kTokens>
void WholeGroups(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) { launch.in.num_actual -= launch.in.num_actual % kTokens; };
  v.stages.launch_q = [](IndexerQLaunch& launch) { launch.in.num_actual -= launch.in.num_actual % kTokens; };
}

// A changed copy of an int64 array of the launch: change(array, i).
template <class Change>
void ChangeIntegers(CompressLaunch& launch, VectorView<std::int64_t>& array, const Change& change) {
  const std::int64_t size = array.size();
  if (size == 0) return;
  auto& changed = launch.integers.emplace_back(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) changed[static_cast<std::size_t>(i)] = change(array, i);
  new (&array) VectorView<std::int64_t>(changed.data(), size);
}

using Integers = VectorView<std::int64_t>;

// Entry i of an int64 array that is read as if it were one of int32.
std::int64_t Halved(const Integers& array, std::int64_t i) {
  const auto word = static_cast<std::uint64_t>(array[i / 2]) >> (i % 2 * 32);
  return std::bit_cast<std::int32_t>(static_cast<std::uint32_t>(word));
}
template <class Narrow>
std::int64_t Truncated(const Integers& array, std::int64_t i) {
  return static_cast<Narrow>(static_cast<std::uint64_t>(array[i]));
}

void FirstTokenMissing(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    ChangeIntegers(launch, launch.in.slot_mapping,
                   [](const Integers& slots, std::int64_t i) { return i == 0 ? std::int64_t{-1} : slots[i]; });
  };
}

// Tokens that end a window go through a list of so many entries.
template <std::int64_t kWindows>
void AtMostWindows(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    std::int64_t windows = 0;
    ChangeIntegers(launch, launch.in.slot_mapping, [&](const Integers& slots, std::int64_t i) {
      if (slots[i] < 0 || i >= launch.in.num_actual) return slots[i];
      const auto next = static_cast<std::int64_t>(static_cast<std::uint64_t>(launch.in.positions[i]) + 1U);
      if (next % launch.in.ratio != 0) return slots[i];
      return ++windows > kWindows ? std::int64_t{-1} : slots[i];
    });
  };
}

void SlotsReadAsInt32(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) { ChangeIntegers(launch, launch.in.slot_mapping, &Halved); };
}
void PositionsReadAsInt32(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) { ChangeIntegers(launch, launch.in.positions, &Halved); };
}
void SlotsTruncated(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    ChangeIntegers(launch, launch.in.slot_mapping, &Truncated<std::int32_t>);
  };
}
void PositionsTruncated(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    ChangeIntegers(launch, launch.in.positions, &Truncated<std::int32_t>);
  };
}
void KvSlotsTruncated(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    ChangeIntegers(launch, launch.in.kv_slot_mapping, &Truncated<std::int16_t>);
  };
}
void KvSlotsAs16Bits(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    ChangeIntegers(launch, launch.in.kv_slot_mapping,
                   [](const Integers& slots, std::int64_t i) { return slots[i] < 0 ? slots[i] : slots[i] & 0xFFFF; });
  };
}
void KvSlotMinusOneOnly(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    // Another negative slot is held for a place before the cache, which nothing bounds.
    const std::int64_t page = launch.out.cache.page_tokens;
    ChangeIntegers(launch, launch.in.kv_slot_mapping, [page](const Integers& slots, std::int64_t i) {
      return slots[i] < -1 ? ((slots[i] % page) + page) % page : slots[i];
    });
  };
}
void SlotMinusOneOnly(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    ChangeIntegers(launch, launch.in.slot_mapping,
                   [](const Integers& slots, std::int64_t i) { return slots[i] < -1 ? std::int64_t{0} : slots[i]; });
  };
}

void RequestsTruncated(Variant& v) {
  v.stages.launch = [](CompressLaunch& launch) {
    auto& given = launch.in.token_to_req;
    if (given.size() == 0) return;
    auto& changed = launch.indices.emplace_back(static_cast<std::size_t>(given.size()));
    for (std::int64_t i = 0; i < given.size(); ++i) changed[static_cast<std::size_t>(i)] = given[i] & 0xFF;
    new (&given) VectorView<std::int32_t>(changed.data(), given.size());
  };
}

constexpr Fault kRows[] = {
    {"launch-first-token", "locate", "the first token is not run", "any", kCompress, &FirstTokenMissing},
    {"launch-groups-of-4", "locate", "tokens in groups of 4, the rest not run",
     "a number of tokens that 4 does not divide", kCompress | kQ, &WholeGroups<4>},
    {"launch-groups-of-16", "locate", "tokens in groups of 16, the rest not run",
     "a number of tokens that 16 does not divide", kCompress | kQ, &WholeGroups<16>},
    {"launch-limit-32", "locate", "at most 32 tokens run", "more tokens", kCompress | kQ, &AtMost<32>},
    {"launch-limit-256", "locate", "at most 256 tokens run", "more tokens", kCompress | kQ, &AtMost<256>},
    {"launch-limit-1024", "locate", "at most 1,024 tokens run", "more tokens", kCompress, &AtMost<1024>},
    {"launch-limit-65535", "locate", "at most 65,535 tokens run, as many as a grid has in its second dimension",
     "more tokens", kOverlaps, &AtMost<65535>},
    {"launch-windows-32", "locate", "at most 32 windows run", "more tokens that end one", kCompress,
     &AtMostWindows<32>},
    {"launch-windows-128", "locate", "at most 128 windows run", "more tokens that end one", kCompress,
     &AtMostWindows<128>},
    {"launch-windows-148", "locate", "at most 148 windows run, as many as a B200 has multiprocessors",
     "more tokens that end one", kCompress, &AtMostWindows<148>},
    {"launch-slots-as-int32", "locate", "state slots read as an array of int32", "three tokens, a negative slot",
     kCompress, &SlotsReadAsInt32},
    {"launch-positions-as-int32", "locate", "positions read as an array of int32", "any two tokens", kCompress,
     &PositionsReadAsInt32},
    {"launch-slots-int32", "locate", "state slots truncated to int32", "a state slot of 2^31 or more", kCompress,
     &SlotsTruncated},
    {"launch-positions-int32", "locate", "positions truncated to int32",
     "a skipped token's position, a ratio that is no power of two", kCompress, &PositionsTruncated},
    {"launch-kv-slots-int16", "locate", "KV slots truncated to int16", "KV slot 32768 or more", kStores,
     &KvSlotsTruncated},
    {"launch-kv-slots-uint16", "locate", "KV slots truncated to 16 bits, negative ones kept", "KV slot 65536 or more",
     kStores, &KvSlotsAs16Bits},
    {"launch-kv-slot-minus-one", "locate", "only KV slot -1 is skipped, not every negative one", "KV slot -7", kStores,
     &KvSlotMinusOneOnly},
    {"launch-slot-minus-one", "locate", "only state slot -1 is skipped, not every negative one", "state slot -7",
     kCompress, &SlotMinusOneOnly},
    {"launch-requests-uint8", "locate", "request indices truncated to 8 bits", "256 requests", kGathers,
     &RequestsTruncated},
};

}  // namespace

std::span<const Fault> LaunchFaults() { return kRows; }

}  // namespace kvexact
