// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/bounded.h"
#include "harness/faults/fault.h"

namespace kvexact {
namespace {

std::vector<Fault> AllFaults() {
  std::vector<Fault> all;
  for (const std::span<const Fault> rows :
       {LocateFaults(), LaunchFaults(), GatherFaults(), GatherEdgeFaults(), SoftmaxFaults(), NormFaults(), RopeFaults(),
        ScaleFaults(), QuantiseFaults(), CodeFaults(), StoreFaults(), StoreEdgeFaults(), TwoStageFaults(),
        IndexerQFaults(), StaleFaults()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace

const char* NameOf(FaultClass fault_class) { return fault_class == FaultClass::kWrong ? "wrong" : "equivalent"; }

std::span<const Fault> Faults() {
  static const std::vector<Fault> all = AllFaults();
  return all;
}

const Fault* FindFault(std::string_view name) {
  for (const Fault& fault : Faults()) {
    if (name == fault.name) return &fault;
  }
  return nullptr;
}

const Variant& BoundedVariant() {
  static const Variant bounded = [] {
    Variant v{SeedStages(), SeedPolicy()};
    v.stages.gather = &BoundedGather;
    v.stages.angles = &BoundedAngles;
    v.stages.store = &BoundedStore;
    return v;
  }();
  return bounded;
}

Variant VariantOf(const Fault& fault) {
  Variant v = BoundedVariant();
  fault.apply(v);
  return v;
}

Variant VariantOf(const Fault& first, const Fault& second) {
  Variant v = VariantOf(first);
  second.apply(v);
  return v;
}

}  // namespace kvexact
