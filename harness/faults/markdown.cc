// SPDX-License-Identifier: Apache-2.0
#include "harness/faults/markdown.h"

#include <algorithm>

#include "harness/faults/fault.h"

namespace kvexact {
namespace {

constexpr char kHead[] = R"(# Known faults

Generated from `harness/faults/` by `faults_doc > docs/faults.md`; a test compares the two.

Each row is a fault that kernels of this kind have had or are likely to have, as one entry of the `Stages` of the model
replaced, or one field of its `Policy` changed; the right code has no flag for any of them. A fault is a backend like any
other, alone or with a second one:

    kvexact verify --backend fault:scale-floor
    kvexact verify --backend fault:rope-sign+store-pad-byte
    kvexact list faults

`kvexact faults` runs what `verify` runs by default against every row and prints the first case that fails, the seconds to
it and what the judge held against it; it exits 0 only if every `wrong` row is found and no `equivalent` one.

`kvexact diagnose FILE|SPEC (--recorded | --backend B)` says which row explains what was stored. A row explains an output
if every byte is one that some evaluation of the faulty model within the error budget may have left: bytes that the faulty
model does not write must be as they were, and what it writes must lie between what the two ends of every value before
rounding give. So it works for kernels whose arithmetic is their own. Rows that store the same on the case are a tie; with a
backend at hand further cases are drawn that tell them apart. Where no row fits, pairs are tried; where no pair fits, the
answer is "no known fault". An output that the judge finds right is never given a fault.

A fault that reads or writes beyond a tensor, as a kernel with it would, reads zeros and writes nothing there.

)";

constexpr char kTail[] = R"(## Equivalent

No reachable input shows these; each is tested for it.

)";

constexpr char kGaps[] = R"(
## What is not here

- Offsets that overflow 32 bits: they need a tensor of 2^31 elements, beyond the harness's limit for a case.
- Races beyond the `stale-` and `race-` rows, and reads of uninitialised memory: not a stage's function. The harness finds
  them as elements that differ between runs, orders and batch splits.
- Launch errors, crashes, hangs: they are reported as such.
- `num_splits` wrongly applied: columns are independent, so a wrong split shows as columns not written.
)";

std::string Rows(FaultClass fault_class, std::string_view stage) {
  std::string text;
  for (const Fault& fault : Faults()) {
    if (fault.fault_class != fault_class || stage != fault.stage) continue;
    text += std::string("| `") + fault.name + "` | " + fault.summary + " | " + fault.exposed_by + " |\n";
  }
  return text;
}

}  // namespace

std::string FaultsMarkdown() {
  std::string text = kHead;
  std::vector<std::string_view> stages;
  for (const Fault& fault : Faults()) {
    if (std::find(stages.begin(), stages.end(), fault.stage) == stages.end()) stages.emplace_back(fault.stage);
  }
  for (const std::string_view stage : stages) {
    text += std::string("## ") + std::string(stage) + "\n\n| name | fault | exposed by |\n| --- | --- | --- |\n";
    text += Rows(FaultClass::kWrong, stage) + "\n";
  }
  text += kTail;
  for (const Fault& fault : Faults()) {
    if (fault.fault_class != FaultClass::kEquivalent) continue;
    text += std::string("- `") + fault.name + "` (" + fault.stage + "): " + fault.summary + ". " + fault.proof + "\n";
  }
  return text + kGaps;
}

}  // namespace kvexact
