// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/case/case.h"
#include "harness/faults/fault.h"
#include "reference/operations/indexer_q.h"
#include "reference/operations/run_compress.h"

namespace kvexact {

// A checked case as a variant runs it, over an arithmetic that runs whole operations (see ValuesOf).
template <class A>
void RunVariant(const Variant& variant, const A& a, const Case& c, TensorMap& outputs) {
  if (c.row().family == spec::Family::kIndexerQ) {
    const IndexerQBinding binding(c);
    RunIndexerQ(variant.stages, variant.policy, a, binding.inputs(), BindIndexerQOutputs(c, outputs));
  } else {
    const CompressBinding binding(c);
    RunCompress(variant.stages, variant.policy, a, binding.inputs(), BindCompressOutputs(c, outputs));
  }
}

}  // namespace kvexact
