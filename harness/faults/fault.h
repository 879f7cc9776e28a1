// SPDX-License-Identifier: Apache-2.0
// Faults that kernels of this kind have had, each as one replaced entry of the seam (docs/faults.md).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "reference/numerics/policy.h"
#include "reference/spec/operation.h"
#include "reference/stages/stages.h"

namespace kvexact {

// A kernel as data: what it does on purpose, and its stages.
struct Variant {
  Stages stages;
  Policy policy;
};

// A set of operations, as bits.
using OperationSet = std::uint32_t;
constexpr OperationSet SetOf(spec::Operation op) { return OperationSet{1} << static_cast<unsigned>(op); }

enum class FaultClass : std::uint8_t {
  kWrong,       // some reachable input shows it
  kEquivalent,  // no reachable input does: `proof` says why, and a test checks it
};
const char* NameOf(FaultClass fault_class);

struct Fault {
  const char* name;
  const char* stage;
  const char* summary;
  const char* exposed_by;   // the smallest kind of input that shows it; of an equivalent one, none
  OperationSet operations;  // whose outputs it can change
  void (*apply)(Variant&);
  FaultClass fault_class = FaultClass::kWrong;
  const char* proof = "";
};

// All faults, stage by stage.
std::span<const Fault> Faults();
// The row of that name, or null.
const Fault* FindFault(std::string_view name);

// The seeds' stages, but a read or write beyond a tensor, which a faulty kernel may attempt, reads zeros or
// stores nothing.
const Variant& BoundedVariant();

Variant VariantOf(const Fault& fault);
// Both faults at once; where they replace the same entry, the second one's holds.
Variant VariantOf(const Fault& first, const Fault& second);

// Rows of one stage.
std::span<const Fault> LocateFaults();
std::span<const Fault> LaunchFaults();
std::span<const Fault> GatherFaults();
std::span<const Fault> GatherEdgeFaults();
std::span<const Fault> SoftmaxFaults();
std::span<const Fault> NormFaults();
std::span<const Fault> RopeFaults();
std::span<const Fault> ScaleFaults();
std::span<const Fault> QuantiseFaults();
std::span<const Fault> CodeFaults();
std::span<const Fault> StoreFaults();
std::span<const Fault> StoreEdgeFaults();
std::span<const Fault> TwoStageFaults();
std::span<const Fault> IndexerQFaults();
std::span<const Fault> StaleFaults();

// Sets that the rows use.
inline constexpr OperationSet kSparse = SetOf(spec::Operation::kSparseAttn);
inline constexpr OperationSet kFp8Indexer = SetOf(spec::Operation::kIndexerFp8);
inline constexpr OperationSet kMxfp4Indexer = SetOf(spec::Operation::kIndexerMxfp4);
inline constexpr OperationSet kTwoStageOnly = SetOf(spec::Operation::kTwoStage);
inline constexpr OperationSet kGatherSplitOnly = SetOf(spec::Operation::kGatherSplit);
inline constexpr OperationSet kFinalizeOnly = SetOf(spec::Operation::kFinalize);
inline constexpr OperationSet kQFp8 = SetOf(spec::Operation::kIndexerQFp8);
inline constexpr OperationSet kQMxfp4 = SetOf(spec::Operation::kIndexerQMxfp4);

inline constexpr OperationSet kHead512Stores = kSparse | kTwoStageOnly | kFinalizeOnly;
inline constexpr OperationSet kHead128Stores = kFp8Indexer | kMxfp4Indexer;
inline constexpr OperationSet kStores = kHead512Stores | kHead128Stores;
inline constexpr OperationSet kGathers = kSparse | kHead128Stores | kTwoStageOnly | kGatherSplitOnly;
inline constexpr OperationSet kOverlaps = kSparse | kHead128Stores;
inline constexpr OperationSet kCompress = kStores | kGatherSplitOnly;
inline constexpr OperationSet kQ = kQFp8 | kQMxfp4;
inline constexpr OperationSet kFp8Codes = kHead512Stores | kFp8Indexer | kQFp8;
inline constexpr OperationSet kFp4Codes = kMxfp4Indexer | kQMxfp4;
inline constexpr OperationSet kUe8m0Scales = kHead512Stores | kMxfp4Indexer | kQMxfp4;
inline constexpr OperationSet kQuantises = kStores | kQ;

}  // namespace kvexact
